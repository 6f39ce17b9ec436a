#include "export/internal.h"
const struct export_format export_folded, export_speedscope;
