#include "cli/kernel/results/shown_sections.h"

#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text/json_text.h"
#include "base/text/nearest.h"
#include "kernel/metrics/throughput.h"
#include "record/kernel_choice.h"

#define MOST_WORDS 4096
#define MOST_METRICS 65536

static void read_texts(const char *at, size_t most, struct string_list *ret)
{
	struct buf text = BUF_INIT;

	while (at && ret->count < most && (at = json_next_text(at, &text)))
		if (string_list_addf(ret, "%s", buf_cstr(&text)) < 0)
			break;
	buf_release(&text);
}

void kernel_shown_read(struct kernel_shown *s, struct report *report)
{
	struct error ignored;
	size_t first = 1;

	read_texts(report_meta(report, "command_line"), MOST_WORDS, &s->words);
	if (s->words.count < 2)
		return;
	if (strcmp(s->words.items[1], "kernel") == 0)
		first = 2;
	s->is_recorded = options_parse(&kernel_options_table, OPTIONS_THEN_WORDS, (int)(s->words.count - first), s->words.items + first,
				       &s->recorded, &s->uses, &ignored) >= 0;
}

/* Sections that were recorded may be in files that are not there any more. */
static int mark_shown_sections(const struct sections *all, const struct kernel_fields *f, bool is_recorded, bool *marks, struct error *err)
{
	const char *text = NULL;
	char piece[512];
	size_t at = 0;
	int r = 0;

	while (r >= 0 && next_piece(&f->sets, &at, &text, piece, sizeof(piece)))
		r = choice_mark_set(all, piece, marks, err) < 0 && !is_recorded ? -ENOENT : 0;
	at = 0;
	text = NULL;
	while (r >= 0 && next_piece(&f->sections, &at, &text, piece, sizeof(piece)))
		r = choice_mark_section(all, piece, marks, err) < 0 && !is_recorded ? -ENOENT : 0;
	return r;
}

static int choose_sections(struct kernel_shown *s, const struct kernel_fields *f, const struct sections *all, struct error *err)
{
	bool *marks = calloc(all->count + 1, sizeof(*marks));
	int r;

	s->sections = calloc(all->count + 1, sizeof(*s->sections));
	if (!marks || !s->sections) {
		free(marks);
		return error_set(err, ENOMEM, "Not enough memory");
	}
	r = mark_shown_sections(all, f, f == &s->recorded, marks, err);
	if (r >= 0 && !f->sets.count && !f->sections.count && !s->metrics.count)
		r = choice_mark_set(all, "basic", marks, err);
	for (size_t i = 0; i < all->count && r >= 0; i++)
		if (marks[i])
			s->sections[s->section_count++] = &all->items[i];
	free(marks);
	return r;
}

static int add_shown_group(const struct sections *all, const char *name, struct string_list *ret)
{
	int r = 0;

	for (size_t i = 0; i < all->count; i++)
		for (const struct section_block *b = all->items[i].blocks; b < all->items[i].blocks + all->items[i].block_count; b++)
			for (size_t row = 0; strcmp(b->group, name) == 0 && row < b->row_count; row++)
				for (size_t cell = 0; cell < b->rows[row].cell_count; cell++)
					for (size_t n = 0; r >= 0 && n < b->rows[row].cells[cell].count; n++)
						if (b->rows[row].cells[cell].steps[n].metric)
							r = string_list_addf(ret, "%s", b->rows[row].cells[cell].steps[n].metric);
	return r;
}

static int add_parts(const char *metric, struct string_list *ret)
{
	size_t len = metric_base_len(metric);
	const char *const *part = throughput_parts(metric, len);

	for (; part && *part; part++)
		TRY(string_list_addf(ret, "%s%s", *part, metric[len] ? metric + len : ".avg.pct_of_peak_sustained_elapsed"));
	return 0;
}

/* A word of --metrics as names of metrics. */
static int add_word(const struct kernel_texts *texts, const char *word, struct string_list *ret)
{
	char room[256];
	const char *meant = glossary_meant(&texts->glossary, word, room, sizeof(room));

	if (strncmp(word, "group:", 6) == 0)
		return add_shown_group(&texts->sections, word + 6, ret);
	if (strncmp(word, "breakdown:", 10) == 0)
		return add_parts(word + 10, ret);
	return string_list_addf(ret, "%s", meant ? meant : word);
}

static int check_expression(const char *word, struct error *err)
{
	char why[128];
	regex_t regex;
	int r;

	if (strncmp(word, "regex:", 6) != 0)
		return 0;
	r = regcomp(&regex, word + 6, REG_EXTENDED | REG_NOSUB);
	if (r == 0) {
		regfree(&regex);
		return 0;
	}
	regerror(r, &regex, why, sizeof(why));
	return error_set(err, EINVAL, "%s cannot be read: %s", word, why);
}

static bool has_any_metric(const struct metric_names *all, char *const *words, size_t count)
{
	struct metric_names meant;
	bool found = metric_names_meant(&meant, all, words, count) >= 0 && meant.count;

	metric_names_release(&meant);
	return found;
}

static int say_missing(const struct metric_names *all, const char *word, struct error *ret)
{
	struct nearest nearest;
	char hint[160];

	nearest_begin(&nearest, word);
	for (size_t i = 0; i < all->count; i++)
		nearest_offer(&nearest, all->items[i]->name, strlen(all->items[i]->name));
	return error_set(ret, ENOENT, "The report does not have a metric '%s'.%s --page raw lists its metrics", word,
			 strchr(word, ':') ? "" : nearest_hint(&nearest, "", hint, sizeof(hint)));
}

/* What is missing is reported; without any section there is nothing to show. */
static int report_missing_metrics(struct cli *cli, const struct string_list *missing, bool has_others, const struct metric_names *all,
				  struct error *err)
{
	if (missing->count && !has_others)
		return say_missing(all, missing->items[0], err);
	for (size_t i = 0; i < missing->count; i++) {
		say_missing(all, missing->items[i], err);
		kernel_warn(cli, "%s", err->text);
	}
	return 0;
}

/* Those of the command line, by their names. */
static int take_asked(struct kernel_shown *s, struct cli *cli, const struct string_list *words, const struct kernel_texts *texts,
		      const struct metric_names *all, struct error *err)
{
	struct string_list missing = STRING_LIST_INIT;
	size_t before;
	int r = 0;

	for (size_t i = 0; i < words->count && r >= 0; i++) {
		before = s->metrics.count;
		r = check_expression(words->items[i], err);
		if (r >= 0)
			r = add_word(texts, words->items[i], &s->metrics) < 0 ? error_set(err, ENOMEM, "Not enough memory") : 0;
		if (r >= 0 && all->count && !has_any_metric(all, s->metrics.items + before, s->metrics.count - before) &&
		    string_list_addf(&missing, "%s", words->items[i]) < 0)
			r = error_set(err, ENOMEM, "Not enough memory");
	}
	if (r >= 0)
		r = report_missing_metrics(cli, &missing, missing.count < words->count, all, err);
	string_list_release(&missing);
	return r;
}

static int take_recorded(struct kernel_shown *s, const struct string_list *words, const struct kernel_texts *texts,
			 const struct kernel_results *results, struct error *err)
{
	int r = 0;

	/* What it was made with says what each word meant on that chip. */
	read_texts(report_meta(results->report, KERNEL_ASKED_KEY), MOST_METRICS, &s->metrics);
	for (size_t i = 0; i < words->count && r >= 0 && !s->metrics.count; i++)
		r = add_word(texts, words->items[i], &s->metrics);
	return r < 0 ? error_set(err, ENOMEM, "Not enough memory") : 0;
}

bool kernel_shown_choose(struct kernel_shown *s, struct cli *cli, const struct kernel_fields *fields, const struct kernel_texts *texts,
			 const struct kernel_results *results)
{
	bool asked = fields->sets.count || fields->sections.count || fields->metrics.count;
	const struct kernel_fields *f = !asked && s->is_recorded ? &s->recorded : fields;
	struct string_list words = STRING_LIST_INIT;
	struct metric_names all;
	struct error err;
	int r;

	/* With neither the values tell. */
	if (!asked && !s->is_recorded && fields->import)
		return true;
	if (metric_names_of(&all, results) < 0 || kernel_split(&f->metrics, &words) < 0)
		r = error_set(&err, ENOMEM, "Not enough memory");
	else if (asked && fields->import)
		r = take_asked(s, cli, &words, texts, &all, &err);
	else
		r = take_recorded(s, &words, texts, results, &err);
	string_list_release(&words);
	if (r >= 0 && metric_names_meant(&s->named, &all, s->metrics.items, s->metrics.count) < 0)
		r = error_set(&err, ENOMEM, "Not enough memory");
	metric_names_release(&all);
	if (r >= 0)
		r = choose_sections(s, f, &texts->sections, &err);
	if (r < 0)
		command_fail(cli, &kernel_command, "%s", err.text);
	s->only_metrics = fields->import && s->metrics.count && asked && !fields->sets.count && !fields->sections.count;
	return r >= 0;
}

void kernel_shown_release(struct kernel_shown *s)
{
	free(s->sections);
	string_list_release(&s->metrics);
	metric_names_release(&s->named);
	string_list_release(&s->words);
	if (s->is_recorded)
		options_release(&s->uses);
	*s = (struct kernel_shown){ 0 };
}
