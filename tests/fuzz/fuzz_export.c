/* Any report exported: each type, to a stream that goes nowhere or into memory (/dev/shm), as the first bytes choose; a replay
 * cleans every one besides. */
#include <dirent.h>

#include "export/export.h"
#include "fuzz_file.h"
#include "query/query.h"

static const char *const times[] = { "100/5000", ":100/5000:", "1us/", "/1s:", "0/9223372036854775807" };
static const char *const tables[] = { "NVTX.*", "CUPTI.*", "SCHED_EVENTS,OSRT_API", "ENUM.*", "StringIds", "TARGET.*" };

static void remove_folder(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;

	while (folder && (entry = readdir(folder)) != NULL)
		unlinkat(dirfd(folder), entry->d_name, 0);
	if (folder)
		closedir(folder);
	rmdir(path);
}

/* Onto no stream; `choice` says whether as it is, or what of it. */
static void run_report(struct query *q, const struct fuzz_file *file, uint8_t choice)
{
	struct export_request request = { .type = EXPORT_REPORT, .input = file->path, .overwrite = true, .redact = choice % 4 != 0 };
	char output[64], path[4096];
	struct error err;

	snprintf(output, sizeof(output), "/dev/shm/sonde-fuzz-%d", (int)getpid());
	request.output = output;
	if (choice % 8 == 1)
		export_times_parse(times[choice / 8 % 5], &request.times, &err);
	export_run(q, &request, path, sizeof(path), &err);
	unlink(output);
}

static void run(struct query *q, const struct fuzz_file *file, FILE *nowhere)
{
	const uint8_t *choices = file->choices;
	/* clang-format off */
	struct export_request request = { .type = (enum export_type)(choices[0] % EXPORT_TYPE_COUNT), .stacks = (enum export_stacks)(choices[1] % 5),
					  .input = file->path, .overwrite = true, .stream = nowhere, .most_bytes = choices[7] % 2 ? 1 : EXPORT_PAGE_BYTES };
	/* clang-format on */
	bool to_file = request.type == EXPORT_SQLITE || request.type == EXPORT_CSV;
	char output[64], path[4096];
	uint64_t left_out;
	struct error err;

	snprintf(output, sizeof(output), "/dev/shm/sonde-fuzz-%d", (int)getpid());
	request.output = to_file ? output : "-";
	request.only_with_rows = choices[2] & 1;
	request.normalize = choices[2] & 2;
	request.shift = choices[2] & 4 ? INT64_MAX / 4 : choices[2] & 8 ? -1000 : 0;
	request.left_out = &left_out;
	if (choices[3] % 3 == 1 && export_times_parse(times[choices[3] / 3 % 5], &request.times, &err) >= 0)
		request.times_text = times[choices[3] / 3 % 5];
	if (to_file || request.type == EXPORT_JSONLINES) {
		request.tables = &tables[choices[4] % 6];
		request.table_count = choices[5] % 4 != 0;
	}
	export_run(q, &request, path, sizeof(path), &err);
	if (request.type == EXPORT_CSV)
		remove_folder(output);
	else if (to_file)
		unlink(output);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *nowhere;
	struct fuzz_file file;
	struct query *q;
	struct error err;

	nowhere = nowhere ? nowhere : fopen("/dev/null", "w");
	if (!nowhere || !fuzz_file_open(&file, data, size))
		return 0;
	if (query_open(&q, file.path, &err) == 0) {
		if (file.choices[0] % EXPORT_TYPE_COUNT == EXPORT_REPORT)
			run_report(q, &file, file.choices[1]);
		else
			run(q, &file, nowhere);
#ifdef SONDE_REPLAY
		run_report(q, &file, 2);
#endif
		query_close(q);
	}
	fuzz_file_close(&file);
	return 0;
}
