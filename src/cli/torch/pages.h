/* What users' scripts print of torch's table besides the table itself. */
#ifndef SONDE_CLI_TORCH_PAGES_H
#define SONDE_CLI_TORCH_PAGES_H

#include "cli/torch/table.h"

/* Every row that takes longer than the threshold on a GPU or a CPU, those with the most GPU time first. `shapes` has the same
 * rows told apart by shapes. As torch_table_print(). */
int torch_print_bottlenecks(FILE *out, struct torch_rows *rows, const struct torch_rows *shapes, double threshold_ms);

/* Tables of what takes the most GPU time, memory and CPU time, and totals. The order of the rows is then another. */
int torch_print_summary(FILE *out, struct torch_rows *rows, const struct torch_layout *layout, const char *name);

/* How much GPU work no operator started; nothing without GPU work. */
void torch_print_unowned(FILE *out, const struct torch_rows *rows, enum torch_unit unit);

#endif
