/* The report's name: macros, free numbers, rank, extension.
 *
 * %h host, %p pid of the program, %q{NAME} environment variable, %n smallest free
 * number, %% a percent sign. A name without a macro gets host and rank when the
 * environment says that this is one rank of many; a name that ends in neither .sonde
 * nor .nsys-rep gets .sonde. Called as nsys, it gets .nsys-rep, and called as nvprof,
 * nothing; the name is then kept as it was given where scripts look for it: of rank 0,
 * and where it holds the rank already. */
#ifndef SONDE_CLI_ARGUMENTS_OUTPUT_NAME_H
#define SONDE_CLI_ARGUMENTS_OUTPUT_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

struct profile_options;

enum output_style { OUTPUT_SONDE, OUTPUT_NSYS, OUTPUT_NVPROF, OUTPUT_STYLES };

/* Says what is wrong with a name before anything is started: an unknown macro, an
 * unset variable, a folder that is not there or not writable. NULL is the default name. */
int output_name_check(const char *name, enum output_style style, struct error *err);

/* The absolute path for a name; see output_path in record/profile_options.h. */
int output_name_path(const char *name, enum output_style style, pid_t pid, int first_number, char *ret_path, size_t path_size,
		     struct error *err);

/* The same, for profile_options.output_path. */
typedef int output_name_fn(const struct profile_options *options, pid_t pid, int first_number, char *ret_path, size_t path_size,
			   struct error *err);
extern output_name_fn *const output_names[OUTPUT_STYLES];

/* A name that stands for a folder ("", "a/", ".", "a/.."): the report in it has its default name. */
bool output_name_is_folder(const char *name);

/* The name with macros replaced and nothing added, for other outputs. */
int output_name_expand(const char *name, pid_t pid, char *ret, size_t size, struct error *err);

#endif
