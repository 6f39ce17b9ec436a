/* Any report in the viewer: its rows, tiles of every level, single events, sums, statistics, kernels. Which requests are made, the
 * first bytes choose; a replay makes some of every kind besides. */
#include "fuzz_file.h"
#include "view/report/coarse.h"
#include "view/internal.h"
#include "view/events/lines.h"
#include "view/derived/derived.h"
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

#ifdef SONDE_REPLAY
static void ask_all(struct view *v)
{
	const struct view_report *r = v->reports[0];
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
#else
static void ask_all(struct view *v)
{
}
#endif

/* %R is a row, %L a level, %N a small number, %T a time of the recording. */
static const char *const requests[] = {
	"/api/rows?report=0",
	"/api/reports",
	"/api/tiles?report=0&level=%L&tiles=%R:%N,%R:%T",
	"/api/tiles?report=0&level=%L&tiles=%R:%T,%R:%T,%R:%T,%R:%T",
	"/api/tiles?report=0&level=0&tiles=%R:%T,%R:0,%R:1",
	"/api/names?report=0&ids=0,1,%N,%T,4294967295",
	"/api/slice?report=0&row=%R&lane=0&index=%N",
	"/api/slice?report=0&row=%R&lane=%N&index=%N&brief=1",
	"/api/alike?report=0&row=%R&lane=0&index=%N",
	"/api/find?report=0&text=a&limit=20",
	"/api/find?report=0&text=s&row=%R&from=%T&to=%T&limit=3",
	"/api/sums?report=0",
	"/api/sums?report=0&from=%T&to=%T&rows=%R,%R",
	"/api/events?report=0&row=%R&limit=50&sort=duration",
	"/api/events?report=0&row=%R&limit=%N&offset=%N&sort=%N&filter=a",
	"/api/events?report=0&row=%R&from=%T&to=%T&sort=-%N",
	"/api/events?report=0&rows=%R,%R&sort=-1",
	"/api/stats?report=0&name=cuda_gpu_kern_sum&from=%T&to=%T",
	"/api/stats?report=0&name=nvtx_sum",
	"/api/flame?report=0",
	"/api/flame?report=0&from=%T&to=%T&order=bottom-up&source=osrt",
	"/api/flame?report=0&row=%R&order=top-down&source=samples",
	"/api/flame?report=0&source=offcpu",
	"/api/tree?report=0",
	"/api/tree?report=0&from=%T&to=%T&row=%R",
	"/api/session?report=0",
	"/api/diagnostics?report=0",
	"/api/findings?report=0",
	"/api/counters?report=0&name=k(float*)",
	"/api/kernels?report=0",
	"/api/kernels?report=0&baseline=0&against=%N",
	"/api/kernel?report=0&kernel=%N",
	"/api/kernel?report=0&kernel=%N&baseline=0&against=%N",
	"/api/values?report=0&kernel=%N&baseline=0",
	"/api/variation?report=0&kernel=%N",
	"/api/variation?report=0&kernel=%N&metric=a__b.sum&baseline=0",
	"/api/groups?report=0&by=kernel&baseline=0",
	"/api/groups?report=0&by=nvtx",
	"/api/groups?report=0&by=operator",
	"/api/source?report=0&kernel=%N",
	"/api/source?report=0&kernel=%N&baseline=0&against=%N",
	"/api/explain?name=a__b.sum",
};

#define REQUESTS (sizeof(requests) / sizeof(requests[0]))

/* Behind a level, times are numbers of tiles, of 2^8 points. */
#define TILE_POINTS 8u

struct numbers {
	const struct view_report *r;
	uint64_t state;
	unsigned level;
};

static uint64_t next_number(struct numbers *n)
{
	n->state = n->state * 6364136223846793005u + 1442695040888963407u;
	return n->state >> 33;
}

static void print_number(struct numbers *n, char kind, char *ret, size_t size)
{
	const struct view_report *r = n->r;
	uint64_t number = next_number(n), length = (uint64_t)r->end - (uint64_t)r->begin;

	if (kind == 'R')
		snprintf(ret, size, "%llu", (unsigned long long)(number % (r->row_count + 1)));
	else if (kind == 'L')
		snprintf(ret, size, "%u", (n->level = (unsigned)(number % (SUMMARY_MAX_LEVEL + 1)) + TILE_POINTS) - TILE_POINTS);
	else if (kind == 'T')
		snprintf(ret, size, "%lld", (long long)(((uint64_t)r->begin + (length ? number * 7919 % length : 0)) >> n->level));
	else
		snprintf(ret, size, "%llu", (unsigned long long)(number % 8));
}

static void ask_chosen(struct view *v, const char *text, uint64_t choice)
{
	struct numbers n = { v->reports[0], choice, 0 };
	char uri[600];
	size_t len = 0;

	for (; *text && len + 32 < sizeof(uri); text++) {
		if (*text == '%') {
			print_number(&n, *++text, uri + len, sizeof(uri) - len);
			len += strlen(uri + len);
		} else {
			uri[len++] = *text;
		}
	}
	uri[len] = '\0';
	ask(v, uri);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct view_report *report = NULL;
	struct view v = { .reports = &report, .report_count = 1, .texts = fuzz_texts() };
	_Atomic bool stop = false;
	struct fuzz_file file;
	struct error err;

	if (!fuzz_file_open(&file, data, size))
		return 0;
	if (view_report_open(&report, file.path, "x", &err) == 0) {
		/* It may open the report again, as one that is still being made. */
		ask(&v, "/api/reports");
		view_report_find_lines(report, &stop);
		if (file.choices[0] % 4) {
			view_report_sum_tracks(report, &stop);
			view_report_make(report, (struct derived_limits){ 50, 20 }, &stop);
			view_report_sum_tracks(report, &stop);
		}
		ask_all(&v);
		for (unsigned i = 1; i < 5; i++)
			ask_chosen(&v, requests[file.choices[i] % REQUESTS], file.choices[0] + 256u * i);
	}
	view_report_close(report);
	fuzz_file_close(&file);
	return 0;
}
