/* Kernels as Kineto calls them: as c++filt writes their names, where reports have them as nsys does. */
#ifndef SONDE_EXPORT_CHROME_KINETO_NAME_H
#define SONDE_EXPORT_CHROME_KINETO_NAME_H

#include "export/timeline.h"

#define KINETO_NAMES 1024u /* at hand; a power of two */

struct kineto_names {
	struct kineto_name {
		uint64_t id; /* of the linker's name */
		char *text;  /* NULL: it stands for itself */
		bool is_known;
	} known[KINETO_NAMES];
};

/* Of a kernel whose linker's name is known; the text is good until the next call. */
void kineto_kernel_name(struct kineto_names *names, const struct event_reader *r, struct event_name *name);
void kineto_names_release(struct kineto_names *names);

#endif
