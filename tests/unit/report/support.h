/* What the report's tests share: a folder of their own and short names for common steps. */
#ifndef SONDE_TESTS_REPORT_SUPPORT_H
#define SONDE_TESTS_REPORT_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "report/reader.h"
#include "report/writer.h"

/* Setup and teardown: *state is the path "FOLDER/x.sonde" in an empty folder. */
int folder_setup(void **state);
int folder_teardown(void **state);

/* path + suffix, in one of a few rotating buffers. */
const char *beside(const char *path, const char *suffix);
int exists(const char *path);
void write_bytes(const char *path, const void *data, size_t size);
void *read_bytes(const char *path, size_t *ret_size);

struct report_writer *open_writer(const char *path);
struct report *open_report(const char *path);
void add_slice(struct report_writer *w, uint32_t track, int64_t start, int64_t end, uint64_t name);

/* A whole column of a table over all its groups; to be freed. nulls may be NULL. */
int64_t *whole_column(const struct report *r, enum table_id table, unsigned column, uint8_t *nulls);
/* Small deterministic random numbers. */
uint64_t next_random(uint64_t *state);

#endif
