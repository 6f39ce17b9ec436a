/* A program is run, and the counters of its kernels are read. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/text/ending.h"
#include "cli/kernel/filter.h"
#include "cli/kernel/run/clocks.h"
#include "cli/kernel/options.h"
#include "cli/kernel/output.h"
#include "cli/kernel/run/run.h"
#include "cli/kernel/instructions.h"
#include "cli/arguments/string_list.h"
#include "kernel/choice/pass_schedule.h"
#include "kernel/metrics/unit.h"

struct counting {
	struct cli *cli;
	const struct kernel_fields *fields;
	struct string_list metrics; /* by part */
	struct string_list units;   /* of each; none where chips are not known */
	struct string_list asked;   /* what --metrics means */
	struct string_list schedules[SCHEDULE_PARTS];
	struct kernel_filter filter;
	struct kernel_request request;
	struct kernel_source_run source;
	uint8_t *config; /* of what is no link: whether a GPU has those is not known here */
	char chip[CHIP_NAME_MAX];
	struct kernel_links links; /* read when one of them is asked for */
	bool report_links;         /* between GPUs */
	char folder[PATH_MAX];     /* of a report that nobody keeps; "" where it is kept */
	char report[PATH_MAX];
	char csv[PATH_MAX]; /* "" for none */
};

_Static_assert((unsigned)SCHEDULE_PARTS == KERNEL_REQUEST_PARTS, "a request has room for all parts");

static void read_links(struct counting *c)
{
	if (!c->links.gpus)
		kernel_links_read(&c->links);
}

/* Metrics of links that no GPU here has are not asked for: to find that out by trying them takes the agent as long as ten passes. */
static bool is_here(struct counting *c, const char *metric)
{
	unsigned part = schedule_part_of(SCHEDULE_APART, metric);

	if (part != SCHEDULE_NVLINK && part != SCHEDULE_C2C)
		return true;
	read_links(c);
	return part == SCHEDULE_NVLINK ? c->links.nvlink : c->links.c2c;
}

static int add_plain(struct counting *c)
{
	const char *text;
	char piece[512];
	size_t at;
	int r = 0;

	for (unsigned part = 0; part < SCHEDULE_PARTS; part++) {
		text = NULL;
		at = 0;
		while (r >= 0 && next_piece(&c->fields->metrics, &at, &text, piece, sizeof(piece))) {
			/* Those that are no counters are of no part; each is taken once. */
			if (part == 0)
				r = kernel_source_take(&c->source, piece);
			if (kernel_source_is(piece) || schedule_part_of(SCHEDULE_APART, piece) != part || !is_here(c, piece))
				continue;
			r = string_list_addf(&c->metrics, "%s", piece);
			c->request.parts[part].metrics.count++;
		}
	}
	return r;
}

static int add_count_part(struct counting *c, const struct kernel_selected *choice, const struct schedule *s, unsigned part,
			  const char **names, size_t count)
{
	const struct schedule_part *from = &s->parts[part];
	struct kernel_wanted *to = &c->request.parts[part];
	struct metric_facts facts;
	char unit[64];
	int r = 0;

	for (size_t i = 0; i < count && r >= 0; i++) {
		if (schedule_part_of(s->way, names[i]) != part || schedule_refuses(s, names[i]))
			continue;
		to->metrics.count++;
		r = string_list_addf(&c->metrics, "%s", names[i]);
		if (r >= 0)
			r = string_list_addf(&c->units, "%s",
					     catalog_facts(&choice->counted, names[i], &facts) && facts.dimension ?
						     unit_of_dimension(facts.dimension, unit, sizeof(unit)) :
						     "");
	}
	to->passes = from->passes;
	for (size_t i = 0; i < from->count && r >= 0; i++)
		r = string_list_addf(&c->schedules[part], "%s", from->names[i]);
	to->schedule = (struct kernel_request_list){ (const char *const *)c->schedules[part].items, c->schedules[part].count };
	return r;
}

static void take_config(struct counting *c, const struct kernel_selected *choice, struct schedule *s)
{
	struct schedule_part *from = &s->parts[SCHEDULE_MAIN];
	struct kernel_wanted *part = &c->request.parts[SCHEDULE_MAIN];

	if (!from->image || !part->metrics.count)
		return;
	snprintf(c->chip, sizeof(c->chip), "%.*s", (int)sizeof(c->chip) - 1, choice->counted.chip);
	c->config = from->image;
	from->image = NULL;
	c->request.chip = c->chip;
	part->config = (struct kernel_request_bytes){ c->config, from->image_size };
	part->passes = from->passes;
}

/* Agents on another chip make the configuration again, with CUPTI; and an instance of a GPU may have no PCIe. */
static enum schedule_way choose_way(struct counting *c, const struct kernel_selected *choice, const char **names, size_t count)
{
	bool asked = false;

	for (size_t i = 0; i < count; i++)
		asked |= schedule_part_of(SCHEDULE_APART, names[i]) == SCHEDULE_PCIE;
	if (!asked)
		return SCHEDULE_MIXED;
	read_links(c);
	return !c->links.is_shared && kernel_is_only_chip(choice->counted.chip) ? SCHEDULE_MIXED : SCHEDULE_APART;
}

static size_t keep_those_here(struct counting *c, const char **names, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (is_here(c, names[i]))
			names[kept++] = names[i];
	return kept;
}

/* Of those that were asked for by name; what sections have besides is nobody's loss. */
static void report_links(struct counting *c)
{
	const char *first = NULL;
	size_t count = 0;

	for (size_t i = 0; i < c->asked.count; i++) {
		if (is_here(c, c->asked.items[i]))
			continue;
		first = first ? first : c->asked.items[i];
		count++;
	}
	if (count == 1)
		kernel_warn(c->cli, "%s is not counted: no GPU on this machine has this link", first);
	else if (count)
		kernel_warn(c->cli, "%s and %zu more are not counted: no GPU on this machine has these links", first, count - 1);
}

static int schedule(struct counting *c, const struct kernel_selected *choice, const char **names, size_t count, struct error *err)
{
	enum schedule_way way = choose_way(c, choice, names, count);
	size_t left_out = c->fields->fast ? schedule_fit(&choice->counted, way, names, &count) : 0;
	struct schedule s;
	int r;

	if (left_out)
		kernel_warn(c->cli, "note: %zu of %zu metrics are counted; the others need more passes than one", count, count + left_out);
	r = schedule_make(&s, &choice->counted, way, names, count, err);
	if (r < 0)
		return r;
	if (count && !c->fields->quiet)
		fprintf(kernel_reported(c->cli), "==PROF== %zu metric%s, for which each kernel runs %zu time%s\n", count,
			count == 1 ? "" : "s", s.passes, s.passes == 1 ? "" : "s");
	for (unsigned part = 0; part < SCHEDULE_PARTS && r >= 0; part++)
		r = add_count_part(c, choice, &s, part, names, count);
	if (r < 0)
		error_set(err, ENOMEM, "Not enough memory");
	else
		take_config(c, choice, &s);
	schedule_release(&s);
	return r;
}

static int add_selected(struct counting *c, const struct kernel_selected *choice, struct error *err)
{
	size_t count, own;
	const char **names = choice_names(&choice->choice, METRIC_COUNTED, &count);
	const char **own_names = choice_names(&choice->choice, METRIC_OWN, &own);
	int r = -1;

	if (names && own_names)
		r = schedule(c, choice, names, keep_those_here(c, names, count), err);
	else
		error_set(err, ENOMEM, "Not enough memory");
	for (size_t i = 0; own_names && i < own; i++)
		c->report_links |= strncmp(own_names[i], "nvlink__", 8) == 0;
	if (c->report_links)
		read_links(c);
	free(own_names);
	free(names);
	return r;
}

/* Metrics by what the chip of the first GPU has. Where no chip is told, names are taken as they are. */
static bool choose_counted_metrics(struct counting *c)
{
	char chips[1][CHIP_NAME_MAX], why[512];
	struct kernel_selected choice;
	struct kernel_texts texts;
	struct cupti_host cupti;
	struct error err;
	bool ok;

	if (c->fields->metrics.count && !c->fields->sets.count && !c->fields->sections.count &&
	    !kernel_find_chips(c->fields, chips, 1, why, sizeof(why)))
		return add_plain(c) >= 0;
	if (!kernel_load_cupti(c->cli, &cupti))
		return false;
	if (!kernel_find_chips(c->fields, chips, 1, why, sizeof(why))) {
		command_fail(c->cli, &kernel_command, "There is no GPU on this machine (%s)", why);
		return false;
	}
	if (!kernel_load_texts(c->cli, c->fields, &texts))
		return false;
	ok = kernel_choose(c->cli, c->fields, &texts, &cupti, chips[0], &choice);
	if (ok) {
		ok = add_selected(c, &choice, &err) >= 0 && kernel_list_asked(c->fields, &texts, &choice, &c->asked, &err) >= 0;
		if (ok)
			report_links(c);
		if (ok && kernel_source_take_selected(&c->source, &choice.choice) < 0)
			ok = error_set(&err, ENOMEM, "Not enough memory") >= 0;
		if (!ok)
			command_fail(c->cli, &kernel_command, "%s", err.text);
		kernel_release_selected(&choice);
	}
	kernel_release_texts(&texts);
	return ok;
}

/* Called as ncu, reports are named as it names them. */
static const char *report_ending(const struct counting *c)
{
	return c->cli->role == CLI_NCU ? ".ncu-rep" : ".sonde";
}

/* All names, before anything runs. */
static int name_outputs(struct counting *c, struct error *err)
{
	const char *name = c->fields->output;
	bool overwrite = c->fields->overwrite;
	int r;

	if (!name) {
		r = kernel_output_folder(c->folder, sizeof(c->folder) - 32, err);
		if (r >= 0)
			snprintf(c->report, sizeof(c->report), "%.*s/kernels.sonde", PATH_MAX - 32, c->folder);
		else
			c->folder[0] = '\0';
		return r;
	}
	if (!c->fields->csv || !text_has_ending(name, ".csv"))
		return kernel_output_path(name, report_ending(c), overwrite, c->report, sizeof(c->report), err);
	TRY(kernel_output_path(name, ".csv", overwrite, c->csv, sizeof(c->csv), err));
	/* The report lies beside it. */
	snprintf(c->report, sizeof(c->report), "%.*s%s", (int)(strlen(c->csv) - 4 < PATH_MAX - 10 ? strlen(c->csv) - 4 : 0), c->csv,
		 report_ending(c));
	if (!overwrite && access(c->report, F_OK) == 0)
		return error_set(err, EEXIST, "%s exists: -f replaces it", c->report);
	return 0;
}

enum { CACHE_ALL, CACHE_NONE, CACHE_BOTH };
enum { GRAPHS_NODES, GRAPHS_WHOLE };

/* Nodes of a graph are launches that the program does not make. */
static enum kernel_graphs graphs_of(const struct kernel_fields *f)
{
	if (f->graphs == GRAPHS_WHOLE)
		return KERNEL_GRAPHS_WHOLE;
	return f->fast || f->replay_mode != REPLAY_KERNEL ? KERNEL_GRAPHS_NONE : KERNEL_GRAPHS_NODES;
}

/* Both are about how quick a replay is, not about what it counts. */
static bool check_range_options(struct counting *c)
{
	const char *text = NULL;
	char piece[64];
	size_t at = 0;

	while (next_piece(&c->fields->range_options, &at, &text, piece, sizeof(piece))) {
		if (strcmp(piece, "disable-host-restore") == 0) {
			kernel_warn(c->cli,
				    "--range-replay-options disable-host-restore: ignored; memory of the host that the device writes is "
				    "always restored.");
		} else if (strcmp(piece, "enable-greedy-sync") != 0) {
			command_fail(c->cli, &kernel_command,
				     "--range-replay-options does not take '%s'. It takes enable-greedy-sync and disable-host-restore.",
				     piece);
			return false;
		}
	}
	return true;
}

static bool check_ranges(struct counting *c)
{
	const struct kernel_fields *f = c->fields;
	const char *other = f->name                   ? "-k" :
			    f->ids.count              ? "--kernel-id" :
			    f->fast                   ? "--fast" :
			    f->graphs == GRAPHS_WHOLE ? "--graph-profiling graph" :
							NULL;

	if (f->replay_mode < REPLAY_RANGE || !other)
		return true;
	command_fail(c->cli, &kernel_command,
		     "A range is one result, whatever kernels it has: %s is not supported with --replay-mode range and app-range", other);
	return false;
}

/* How it is counted: with --cache-control both, each metric once more. */
static bool check_mode(struct counting *c)
{
	size_t count = c->metrics.count, units = c->units.count;
	int r = 0;

	if (!check_range_options(c) || !check_ranges(c))
		return false;
	if (c->fields->fast && c->fields->replay_mode) {
		command_fail(c->cli, &kernel_command, "--fast runs the program once: it and --replay-mode application exclude each other");
		return false;
	}
	if (c->fields->cache_control != CACHE_BOTH)
		return true;
	if (c->fields->fast || c->fields->replay_mode) {
		command_fail(c->cli, &kernel_command,
			     "--cache-control both counts everything twice; it requires --replay-mode kernel and excludes --fast");
		return false;
	}
	for (size_t i = 0; i < count && r >= 0; i++)
		r = string_list_addf(&c->metrics, "%s.warm", c->metrics.items[i]);
	for (size_t i = 0; i < units && r >= 0; i++)
		r = string_list_addf(&c->units, "%s", c->units.items[i]);
	return r >= 0;
}

/* As ncu has it, under its name they are locked unless something else is said. */
static enum kernel_clock_control clock_control(const struct cli *cli, const struct kernel_fields *f, const struct options_parsed *parsed)
{
	if (cli->role == CLI_NCU && !options_find_use(parsed, "clock-control"))
		return CLOCKS_BASE;
	return (enum kernel_clock_control)f->clock_control;
}

/* Metrics lie part by part. */
static void complete_request(struct kernel_request *r, const struct counting *c)
{
	const struct kernel_fields *f = c->fields;
	size_t next = 0;

	r->part_count = SCHEDULE_PARTS;
	for (size_t i = 0; i < r->part_count; next += r->parts[i++].metrics.count)
		r->parts[i].metrics.items = (const char *const *)c->metrics.items + next;
	r->flush_caches = f->cache_control != CACHE_NONE && !f->fast;
	r->warm = f->cache_control == CACHE_BOTH;
	r->kill = kernel_says_yes(f->kill) && !kernel_filter_is_native(f);
	r->ranges = f->replay_mode == REPLAY_APP_RANGE ? KERNEL_RANGES_BY_RUNS :
		    f->replay_mode == REPLAY_RANGE     ? KERNEL_RANGES_BY_CALLS :
							 KERNEL_RANGES_NONE;
	r->graphs = (int)graphs_of(f);
}

static int run_counting(struct counting *c, const struct options_parsed *parsed, struct record_result *result)
{
	const struct kernel_fields *f = c->fields;
	struct buf literal = BUF_INIT;
	struct kernel_run run = { .request = c->request,
				  .metrics = (const char *const *)c->metrics.items,
				  .units = c->units.count ? (const char *const *)c->units.items : NULL,
				  .metric_count = (uint32_t)c->metrics.count,
				  .asked = c->asked.items,
				  .nvtx = kernel_filter_needs_nvtx(f),
				  .nvtx_process = f->nvtx_scope == 1,
				  .source = f->fast || f->replay_mode != REPLAY_KERNEL || f->graphs == GRAPHS_WHOLE ? NULL : &c->source,
				  .replay_timeout = (uint32_t)f->replay_timeout,
				  .overwrite = true,
				  .store = (enum store_environment)f->store_environment,
				  .gpus = c->report_links ? c->links.gpus : NULL,
				  .gpu_count = c->report_links ? c->links.count : 0,
				  .quiet = f->quiet,
				  .preload = f->preload,
				  .argv = parsed->words,
				  .argc = (size_t)parsed->word_count };
	struct kernel_clocks clocks;
	int status;

	complete_request(&run.request, c);
	if (!run.source && (kernel_source_needs_code(&c->source) || c->source.series.count))
		fprintf(kernel_reported(c->cli),
			"==WARNING== Instructions are not counted, and nothing is sampled, where kernels are not launched again one by one.\n");
	if (f->null_stdin && !freopen("/dev/null", "r", stdin))
		return command_fail(c->cli, &kernel_command, "Standard input cannot be replaced: %s", strerror(errno));
	/* What the program prints comes behind what was said so far. */
	fflush(kernel_reported(c->cli));
	/* Macros were replaced: what is left stands for itself. */
	for (const char *at = c->report; *at; at++)
		buf_puts(&literal, *at == '%' ? "%%" : (char[]){ *at, '\0' });
	run.output = buf_cstr(&literal);
	kernel_clocks_lock(c->cli, &clocks, clock_control(c->cli, f, parsed), f->quiet);
	run.clocks = clocks.what;
	status = (f->replay_mode == REPLAY_APPLICATION && !f->fast) || f->replay_mode == REPLAY_APP_RANGE ?
			 kernel_run_passes(c->cli, &run, result) :
			 kernel_run(c->cli, &run, result);
	kernel_clocks_release(&clocks);
	buf_release(&literal);
	return status;
}

/* The program's status goes before that of printing. */
static int finish_counting(struct counting *c, const struct record_result *result, const struct options_parsed *parsed, int status)
{
	bool kept = c->fields->output != NULL;
	bool print = !kept || options_find_use(parsed, "page") || c->fields->summary || c->fields->json;
	bool show = c->fields->open_in_ui;
	int printed;

	if (!result->finished)
		return status ? status : 1;
	if (status && kernel_says_yes(c->fields->check_exit_code) && status < 128)
		fprintf(kernel_reported(c->cli), "==ERROR== The application returned an error code (%d).\n", status);
	if (kernel_source_needs_code(&c->source))
		kernel_source_complete(c->cli, c->fields, result->path);
	if (kernel_choose_by_stacks(c->cli, c->fields, result->path))
		return 1;
	printed = kernel_print_pages(c->cli, c->fields, result->path, print && !show, c->csv[0] ? c->csv : NULL);
	if (kept && !c->fields->quiet)
		fprintf(kernel_reported(c->cli), "==PROF== Report: %s\n", result->path);
	if (show)
		kernel_view(c->cli, result->path);
	if (status && kernel_says_yes(c->fields->check_exit_code))
		return status;
	return printed;
}

int kernel_count(struct cli *cli, const struct kernel_fields *fields, const struct options_parsed *parsed)
{
	struct counting *c = calloc(1, sizeof(*c));
	struct record_result *result = calloc(1, sizeof(*result));
	struct error err;
	int status = 1;

	if (c && result && kernel_check_baseline(cli, fields) && kernel_check_reports(cli, fields) && kernel_check_rules(cli, fields) &&
	    kernel_source_begin(cli, fields, &c->source) && kernel_filter_make(cli, fields, &c->filter)) {
		c->request = c->filter.request;
		c->cli = cli;
		c->fields = fields;
		if (name_outputs(c, &err) < 0)
			command_fail(cli, &kernel_command, "%s", err.text);
		else if (choose_counted_metrics(c) && check_mode(c))
			status = finish_counting(c, result, parsed, run_counting(c, parsed, result));
		if (c->folder[0])
			kernel_output_remove(c->folder);
		string_list_release(&c->metrics);
		string_list_release(&c->units);
		string_list_release(&c->asked);
		for (unsigned i = 0; i < SCHEDULE_PARTS; i++)
			string_list_release(&c->schedules[i]);
		free(c->config);
		kernel_links_release(&c->links);
		kernel_source_end(&c->source);
	}
	if (c)
		kernel_filter_release(&c->filter);
	free(result);
	free(c);
	return status;
}
