#include "kernel/rules/written.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/text_file.h"

#define MOST_DECIMALS 6

struct reader {
	struct text_lines lines;
	struct written_rule *rule;
	struct error *err;
};

static int refuse(struct reader *r, const char *what)
{
	return text_refuse(&r->lines, r->err, what);
}

static int no_memory(struct reader *r)
{
	return error_set(r->err, ENOMEM, "Not enough memory");
}

static int set_text(struct reader *r, char **field, struct text_piece value)
{
	char *copy = text_copy(value);

	if (!copy)
		return no_memory(r);
	free(*field);
	*field = copy;
	return 0;
}

static int read_formula(struct reader *r, struct formula *ret, struct text_piece text)
{
	char why[120];
	int result = formula_parse(ret, text.text, text.len, why, sizeof(why));

	return result == -EINVAL ? refuse(r, why) : result < 0 ? no_memory(r) : 0;
}

/* [optimize Title] */
static int begin_case(struct reader *r, struct text_piece line)
{
	static const char *const tags[] = { [RULE_OPTIMIZE] = "optimize", [RULE_INFORM] = "inform", [RULE_WARN] = "warn" };
	struct text_piece word, title = { "", 0 }, inside = { line.text + 1, line.len - 2 };
	struct written_case *grown;

	if (line.len < 2 || line.text[line.len - 1] != ']')
		return refuse(r, "'[' has no ']'");
	if (!text_split(inside, ' ', &word, &title))
		return refuse(r, "expected '[optimize TITLE]', '[inform TITLE]' or '[warn TITLE]'");
	grown = reallocarray(r->rule->cases, r->rule->case_count + 1, sizeof(*grown));
	if (!grown)
		return no_memory(r);
	r->rule->cases = grown;
	for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
		if (!text_is(word, tags[i]))
			continue;
		grown[r->rule->case_count] = (struct written_case){ .tag = (enum rule_tag)i };
		r->rule->case_count++;
		return set_text(r, &grown[r->rule->case_count - 1].title, title);
	}
	return refuse(r, "a case is 'optimize', 'inform' or 'warn'");
}

static int read_condition(struct reader *r, struct written_case *c, struct text_piece value)
{
	struct written_condition *grown = reallocarray(c->conditions, c->condition_count + 1, sizeof(*grown)), *made;
	struct text_piece left = { value.text, 0 }, right;
	bool equal;

	if (!grown)
		return no_memory(r);
	c->conditions = grown;
	made = &grown[c->condition_count];
	*made = (struct written_condition){ 0 };
	while (left.len < value.len && value.text[left.len] != '<' && value.text[left.len] != '>')
		left.len++;
	if (left.len == value.len)
		return refuse(r, "a condition compares two values: >=, >, <= or <");
	c->condition_count++;
	equal = left.len + 1 < value.len && value.text[left.len + 1] == '=';
	if (value.text[left.len] == '>')
		made->comparison = equal ? WRITTEN_AT_LEAST : WRITTEN_MORE;
	else
		made->comparison = equal ? WRITTEN_AT_MOST : WRITTEN_LESS;
	right = (struct text_piece){ value.text + left.len + 1 + equal, value.len - left.len - 1 - equal };
	if (read_formula(r, &made->left, text_trim(left)) < 0)
		return -EINVAL;
	return read_formula(r, &made->right, text_trim(right));
}

static struct written_piece *add_piece(struct written_case *c)
{
	struct written_piece *grown = reallocarray(c->pieces, c->piece_count + 1, sizeof(*grown));

	if (!grown)
		return NULL;
	c->pieces = grown;
	grown[c->piece_count] = (struct written_piece){ .decimals = 1 };
	return &grown[c->piece_count++];
}

static int add_words(struct reader *r, struct written_case *c, const char *text, size_t len)
{
	struct written_piece *p = len ? add_piece(c) : NULL;

	if (!len)
		return 0;
	if (p)
		p->text = strndup(text, len);
	return p && p->text ? 0 : no_memory(r);
}

/* Between braces: formula|decimals. */
static int add_value(struct reader *r, struct written_case *c, struct text_piece inside)
{
	struct text_piece formula = inside, decimals;
	struct written_piece *p = add_piece(c);

	if (!p)
		return no_memory(r);
	if (text_split(inside, '|', &formula, &decimals)) {
		if (decimals.len != 1 || decimals.text[0] < '0' || decimals.text[0] > '0' + MOST_DECIMALS)
			return refuse(r, "behind '|' is the number of decimals, 0 to 6");
		p->decimals = decimals.text[0] - '0';
	}
	return read_formula(r, &p->value, text_trim(formula));
}

/* A second line of text goes on with the first. */
static int read_text(struct reader *r, struct written_case *c, struct text_piece value)
{
	const char *at = value.text, *end = value.text + value.len, *open, *close;
	int result = c->piece_count ? add_words(r, c, " ", 1) : 0;

	while (result == 0 && at < end) {
		open = memchr(at, '{', (size_t)(end - at));
		close = open ? memchr(open, '}', (size_t)(end - open)) : NULL;
		if (open && !close)
			return refuse(r, "'{' has no '}'");
		result = add_words(r, c, at, (size_t)((open ? open : end) - at));
		if (result == 0 && open)
			result = add_value(r, c, (struct text_piece){ open + 1, (size_t)(close - open) - 1 });
		at = open ? close + 1 : end;
	}
	return result;
}

/* local FORMULA, global FORMULA */
static int read_gain(struct reader *r, struct written_case *c, struct text_piece value)
{
	struct text_piece kind, share;

	if (c->gain != RULE_NO_GAIN)
		return refuse(r, "there is a gain already");
	if (!text_split(value, ' ', &kind, &share) || (!text_is(kind, "local") && !text_is(kind, "global")))
		return refuse(r, "a gain is 'local FORMULA' or 'global FORMULA', a share of 1");
	c->gain = text_is(kind, "local") ? RULE_LOCAL : RULE_GLOBAL;
	return read_formula(r, &c->share, share);
}

static int read_head(struct reader *r, struct text_piece name, struct text_piece value)
{
	struct written_rule *rule = r->rule;

	if (text_is(name, "title"))
		return set_text(r, &rule->title, value);
	if (text_is(name, "section"))
		return set_text(r, &rule->section, value);
	if (text_is(name, "about"))
		return set_text(r, &rule->about, value);
	return refuse(r, "before the first case there are 'title', 'section' and 'about'");
}

static int read_line(struct reader *r, struct text_piece line)
{
	struct written_case *c = r->rule->case_count ? &r->rule->cases[r->rule->case_count - 1] : NULL;
	struct text_piece name, value;

	if (line.text[0] == '[')
		return begin_case(r, line);
	if (!text_split(line, '=', &name, &value))
		return refuse(r, "expected 'name = value'");
	if (!c)
		return read_head(r, name, value);
	if (text_is(name, "when"))
		return read_condition(r, c, value);
	if (text_is(name, "text"))
		return read_text(r, c, value);
	if (text_is(name, "gain"))
		return read_gain(r, c, value);
	return refuse(r, "a case has 'when', 'text' and 'gain'");
}

static bool is_complete(const struct written_rule *rule)
{
	if (!rule->title[0] || !rule->section[0] || !rule->case_count)
		return false;
	for (size_t i = 0; i < rule->case_count; i++)
		if (!rule->cases[i].condition_count || !rule->cases[i].piece_count)
			return false;
	return true;
}

int written_rule_parse(struct written_rule *ret, const char *path, const char *text, size_t size, struct error *err)
{
	struct reader r = { .lines = { path, text, text + size, 0, 0 }, .rule = ret, .err = err };
	struct text_piece line;
	int result;

	*ret = (struct written_rule){ .id = text_file_name(path), .title = strdup(""), .section = strdup(""), .about = strdup("") };
	result = ret->id && ret->title && ret->section && ret->about ? 1 : no_memory(&r);
	while (result > 0) {
		result = text_next_line(&r.lines, &line, err);
		if (result > 0 && read_line(&r, line) < 0)
			result = -EINVAL;
	}
	if (result == 0 && !is_complete(ret))
		result = error_set(err, EINVAL, "%s: a rule needs a title, a section, and cases with 'when' and 'text'", path);
	if (result < 0)
		written_rule_release(ret);
	return result;
}

static void release_case(struct written_case *c)
{
	for (size_t i = 0; i < c->condition_count; i++) {
		formula_release(&c->conditions[i].left);
		formula_release(&c->conditions[i].right);
	}
	for (size_t i = 0; i < c->piece_count; i++) {
		free(c->pieces[i].text);
		formula_release(&c->pieces[i].value);
	}
	formula_release(&c->share);
	free(c->conditions);
	free(c->pieces);
	free(c->title);
}

void written_rule_release(struct written_rule *rule)
{
	for (size_t i = 0; i < rule->case_count; i++)
		release_case(&rule->cases[i]);
	free(rule->cases);
	free(rule->id);
	free(rule->title);
	free(rule->section);
	free(rule->about);
	*rule = (struct written_rule){ 0 };
}

/* Also what Sonde's own rules have found. */
static double value_of(void *context, const char *metric)
{
	const struct rule_run *run = context;
	const struct {
		const char *name;
		double value;
	} handed_on[] = { { "rule__compute", run->compute }, { "rule__memory", run->memory }, { "rule__issue", run->issue } };

	for (size_t i = 0; i < sizeof(handed_on) / sizeof(handed_on[0]); i++)
		if (strcmp(metric, handed_on[i].name) == 0)
			return handed_on[i].value;
	return rule_value(run, metric);
}

static bool holds(const struct written_condition *c, struct rule_run *run)
{
	double left = formula_value(&c->left, value_of, run), right = formula_value(&c->right, value_of, run);

	switch (c->comparison) {
	case WRITTEN_AT_LEAST:
		return left >= right;
	case WRITTEN_MORE:
		return left > right;
	case WRITTEN_AT_MOST:
		return left <= right;
	case WRITTEN_LESS:
		return left < right;
	}
	return false;
}

static void say(const struct written_case *c, struct rule_run *run)
{
	struct rule_result *result = rule_result(run, c->tag, c->title);

	for (size_t i = 0; i < c->piece_count; i++) {
		const struct written_piece *p = &c->pieces[i];

		if (p->text)
			rule_say(result, "%s", p->text);
		else
			rule_say(result, "%.*f", p->decimals, formula_value(&p->value, value_of, run));
	}
	if (c->gain != RULE_NO_GAIN)
		rule_gain(result, c->gain, formula_value(&c->share, value_of, run));
}

void written_rule_apply(const struct written_rule *rule, struct rule_run *run)
{
	run->rule = rule->id;
	for (size_t i = 0; i < rule->case_count; i++) {
		const struct written_case *c = &rule->cases[i];
		size_t met = 0;

		while (met < c->condition_count && holds(&c->conditions[met], run))
			met++;
		if (met == c->condition_count)
			say(c, run);
	}
}
