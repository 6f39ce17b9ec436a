/* Parts of the source book. */
#ifndef SONDE_KERNEL_SOURCE_INTERNAL_H
#define SONDE_KERNEL_SOURCE_INTERNAL_H

#include "kernel/source/instructions.h"

/* A text that lives as long as the book; NULL: no memory. */
const char *source_keep(struct source_book *book, const char *text);
/* The same where it was kept before, among the last few. */
const char *source_keep_once(struct source_book *book, const char *text);
struct source_fact *source_add_fact(struct source_book *book);
int source_order(int64_t code, const char *function, uint32_t pc, int64_t other_code, const char *other_function, uint32_t other_pc);
void source_sort_facts(struct source_book *book);
struct source_fact *source_find_fact(const struct source_book *book, int64_t code, const char *function, uint32_t pc);
/* opcodes.c */
struct report_writer;
int source_store_opcodes(const struct source_book *book, struct report_writer *w);
/* inlined.c */
struct cubin_place;
/* Calls that lead from places (cubin_places()) into a fact. -ENOMEM. */
int source_take_places(struct source_book *book, struct source_fact *fact, const struct cubin_place *places, size_t count);
int source_find_outermost(struct source_book *book, struct source_fact *fact);
/* files.c */
int source_store_files(const struct source_book *book, struct report_writer *w);
/* code.c */
int source_make_facts(struct source_book *book, char *note, size_t note_size, struct error *err);

#endif
