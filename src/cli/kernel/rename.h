/* Kernels by names of one's own (--rename-kernels): a file as ncu has it,
 *
 *	- - Original: void mergeSortSharedKernel<(unsigned int)1>(unsigned int *, ...)
 *	  - Renamed: Merge Sort
 */
#ifndef SONDE_CLI_KERNEL_RENAME_H
#define SONDE_CLI_KERNEL_RENAME_H

#include "cli/kernel/options.h"
#include "cli/arguments/string_list.h"
#include "kernel/results/results.h"

struct kernel_renames {
	struct string_list originals;
	struct string_list names; /* of each */
};

/* clang-format off */
#define KERNEL_RENAMES_INIT { STRING_LIST_INIT, STRING_LIST_INIT }
/* clang-format on */

/* The file that the options name, or else the one in this folder or the user's; none where it is switched off. False after an error. */
bool kernel_renames_load(struct cli *cli, const struct kernel_fields *fields, struct kernel_renames *ret);
void kernel_renames_release(struct kernel_renames *renames);
/* As agents compare these names: original, tab, name; what finds no room in a request keeps its name. -ENOMEM. */
int kernel_renames_list(const struct kernel_renames *renames, struct string_list *ret);
/* Results are called so from now on. -ENOMEM. */
int kernel_renames_apply(const struct kernel_renames *renames, struct kernel_results *results);
/* --rename-kernels-export: a file with the names of the results, to be edited. False after an error. */
bool kernel_renames_export(struct cli *cli, const struct kernel_fields *fields, const struct kernel_results *results);

#endif
