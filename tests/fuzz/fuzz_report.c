/* libFuzzer target: any bytes as a report, with or without a journal. The input is
 *   8 bytes: length of the report (little-endian; the rest is the journal), then both.
 * To search:
 *   clang -g -O1 -D_GNU_SOURCE -Isrc -fsanitize=fuzzer,address,undefined tests/fuzz/fuzz_report.c \
 *         src/report/[a-z]*.c src/fmt/tables.c src/base/buf.c src/base/error.c -lzstd -lxxhash -lpthread */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mend.h"
#include "replay.h"
#include "report/read/internal.h"

static void read_tables(struct report *r)
{
	static int64_t values[SET_MAX_ROWS];
	static uint8_t nulls[SET_MAX_ROWS];
	unsigned budget = 2000; /* columns; a tiny file can promise many groups */

	for (unsigned table = 0; table < TABLE_ID_LIMIT; table++) {
		for (size_t g = 0; g < report_group_count(r, (enum table_id)table) && budget; g++) {
			const struct table_schema *schema = table_schema(table);

			if (report_group(r, (enum table_id)table, g)->rows > SET_MAX_ROWS || !schema)
				abort();
			for (unsigned c = 0; c < schema->column_count && budget; c++, budget--)
				report_column(r, (enum table_id)table, g, c, values, c % 2 ? nulls : NULL);
		}
	}
}

static void read_texts(struct report *r)
{
	uint64_t limit = report_string_limit(r);
	size_t len;

	for (uint64_t id = 0; id < limit && id < 2000; id++) {
		const char *text = report_text(r, id, &len);

		if (text && text[len] != '\0')
			abort();
		report_blob_data(r, id, &len);
	}
	report_text(r, limit - 1, &len);
	report_meta(r, "host");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t file_size;
	struct report *r;
	struct error err;
	uint8_t *copy, *journal;

	if (size < sizeof(file_size))
		return 0;
	memcpy(&file_size, data, sizeof(file_size));
	data += sizeof(file_size);
	size -= sizeof(file_size);
	file_size = file_size > size ? size : file_size;
	copy = malloc(file_size + 1);
	journal = malloc(size - file_size + 1);
	if (!copy || !journal)
		abort();
	memcpy(copy, data, file_size);
	memcpy(journal, data + file_size, size - file_size);
	mend(copy, file_size);
	if (size - file_size >= sizeof(struct file_header) && file_size >= sizeof(struct file_header)) {
		memcpy(journal + offsetof(struct file_header, id), copy + offsetof(struct file_header, id), 16);
		mend(journal, size - file_size);
	}
	if (report_open_memory(&r, copy, file_size, journal, size - file_size, &err) == 0) {
		read_tables(r);
		read_texts(r);
		for (size_t i = 0; i < report_note_count(r); i++)
			if (!report_note(r, i)[0])
				abort();
		report_close(r);
	}
	free(copy);
	free(journal);
	return 0;
}
