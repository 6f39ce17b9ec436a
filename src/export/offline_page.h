/* The viewer's page for a file of its own, made by tools/embed_offline: the reports stand between head and tail. */
#ifndef SONDE_EXPORT_OFFLINE_PAGE_H
#define SONDE_EXPORT_OFFLINE_PAGE_H

#include <stddef.h>

extern const char offline_page_head[];
extern const size_t offline_page_head_size;
extern const char offline_page_tail[];
extern const size_t offline_page_tail_size;
/* What was not there when Sonde was built, so that there is no page; empty otherwise. */
extern const char offline_page_missing[];
extern const size_t offline_page_missing_size;

#endif
