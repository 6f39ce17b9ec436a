/* Where things are kept that can be made again. */
#ifndef SONDE_BASE_SYSTEM_CACHE_FOLDER_H
#define SONDE_BASE_SYSTEM_CACHE_FOLDER_H

#include <stddef.h>

/* ${XDG_CACHE_HOME:-~/.cache}/sonde/NAME, made if need be; -ENOENT where there can be none that is ours and closed to others. */
int cache_folder(const char *name, char *ret, size_t size);

#endif
