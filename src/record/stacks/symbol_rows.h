/* What a namer finds, as rows of a report: tables SYMBOL and FRAME_SYMBOL. */
#ifndef SONDE_RECORD_STACKS_SYMBOL_ROWS_H
#define SONDE_RECORD_STACKS_SYMBOL_ROWS_H

#include "report/writer.h"
#include "symbol/namer.h"

/* The context of a namer begins with it. */
struct symbol_rows {
	struct report_writer *writer;
	int failed; /* 0, or why a row could not be written: a negative errno */
};

void symbol_rows_symbol(void *context, const struct namer_symbol *symbol);
void symbol_rows_frame(void *context, uint32_t frame, uint64_t symbol);

#endif
