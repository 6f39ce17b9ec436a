/* Where Sonde's text files lie. */
#ifndef SONDE_KERNEL_METRICS_SHARE_FOLDER_H
#define SONDE_KERNEL_METRICS_SHARE_FOLDER_H

#include <stddef.h>

/* The folder `name` of share: beside the program (a copied folder), where `make install` puts it, or in the source tree above the build
 * folder. -ENOENT where there is none. */
int share_folder(const char *name, char *ret, size_t size);

#endif
