/* Any bytes as a report in the viewer: its rows, tiles of every level, single events and sums. The input is that of
 * fuzz_report.c; a journal is left out. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mend.h"
#include "replay.h"
#include "view/coarse.h"
#include "view/internal.h"
#include "view/lines.h"
#include "view/made.h"
#include "view_texts.h"

#define MAX_ROWS 24

static void ask(struct view *v, const char *uri)
{
	const struct route *route;
	struct params params;
	struct answer a;
	struct error err;

	if (params_parse(&params, uri, &err) < 0)
		abort();
	route = route_find(params.path);
	answer_make(v, route, &params, &a);
	buf_release(&a.body);
	params_release(&params);
}

static void ask_all(struct view *v)
{
	const struct recording *r = v->recordings[0];
	char uri[200];

	ask(v, "/api/rows?report=0");
	ask(v, "/api/session?report=0");
	ask(v, "/api/diagnostics?report=0");
	ask(v, "/api/findings?report=0");
	ask(v, "/api/sums?report=0");
	ask(v, "/api/tree?report=0");
	ask(v, "/api/find?report=0&text=a&limit=5");
	ask(v, "/api/events?report=0&limit=5&sort=duration");
	ask(v, "/api/kernels?report=0&baseline=0");
	ask(v, "/api/kernel?report=0&kernel=0&baseline=0");
	ask(v, "/api/kernel?report=0&kernel=1&baseline=0&against=0");
	ask(v, "/api/values?report=0&kernel=0&baseline=0");
	ask(v, "/api/source?report=0&kernel=0");
	ask(v, "/api/groups?report=0&by=kernel");
	ask(v, "/api/groups?report=0&by=nvtx&baseline=0");
	for (size_t i = 0; i < r->row_count && i < MAX_ROWS; i++) {
		for (unsigned level = 0; level <= 50; level += 5) {
			long long first = r->begin >> (level + 8), last = r->end >> (level + 8);

			snprintf(uri, sizeof(uri), "/api/tiles?report=0&level=%u&tiles=%zu:%lld,%zu:%lld", level, i, first, i, last);
			ask(v, uri);
		}
		snprintf(uri, sizeof(uri), "/api/slice?report=0&row=%zu&lane=0&index=0", i);
		ask(v, uri);
		snprintf(uri, sizeof(uri), "/api/alike?report=0&row=%zu&lane=0&index=0", i);
		ask(v, uri);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct recording *recording = NULL;
	struct view v = { .recordings = &recording, .recording_count = 1, .texts = fuzz_texts() };
	_Atomic bool stop = false;
	struct error err;
	char path[64];
	uint8_t *copy;
	int fd;

	if (size < 8)
		return 0;
	copy = malloc(size);
	if (!copy)
		abort();
	memcpy(copy, data + 8, size - 8);
	mend(copy, size - 8);
	fd = memfd_create("fuzz", 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write(fd, copy, size - 8) == (ssize_t)(size - 8) && recording_open(&recording, path, "x", &err) == 0) {
		/* It may open the report again, as one that is still being made. */
		ask(&v, "/api/reports");
		recording_find_lines(recording, &stop);
		recording_sum_lanes(recording, &stop);
		recording_make(recording, (struct made_limits){ 50, 20 }, &stop);
		recording_sum_lanes(recording, &stop);
		ask_all(&v);
	}
	recording_close(recording);
	close(fd);
	free(copy);
	return 0;
}
