/* What is between the lines of rules: formulas, conditions, and text with values in it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "kernel/rules/rule_file_internal.h"

#define MOST_DECIMALS 6

int rule_find_list(const struct written_rule *rule, struct text_part name)
{
	for (size_t i = 0; i < rule->list_count; i++)
		if (text_is(name, rule->lists[i].name))
			return (int)i;
	return -1;
}

static bool is_word_among(const char *word, const char *const *words)
{
	while (*words && strcmp(*words, word) != 0)
		words++;
	return *words;
}

/* $1 to as many as a row has. */
static int check_column(struct rule_reader *r, char digit)
{
	if (!r->row)
		return rule_refuse(r, "columns ($1) require a row of a list, and there is none");
	if (digit < '1' || (size_t)(digit - '1') >= r->row->column_count)
		return rule_refuse(r, "rows of '%s' have %zu columns, $1 to $%zu", r->row->name, r->row->column_count,
				   r->row->column_count);
	return 0;
}

/* A name that begins like a list's goes on as one; a misspelt one would be a metric that was never counted. */
static int check_name(struct rule_reader *r, const char *name)
{
	static const char *const of_list[] = { "most", "least", "sum", "count", NULL };
	static const char *const of_lines[] = { "most", "least", "sum", "count", "more", "less", "stall", NULL };
	const char *dot = strchr(name, '.');
	int list = dot ? rule_find_list(r->rule, (struct text_part){ name, (size_t)(dot - name) }) : -1, result = 0;

	if (list >= 0 && !is_word_among(dot + 1, r->rule->lists[list].is_lines ? of_lines : of_list))
		return rule_refuse(r, "'%s': a list has .most, .least, .sum and .count, and lines .more, .less and .stall", name);
	for (const char *at = strchr(name, '$'); result == 0 && at; at = strchr(at + 1, '$'))
		result = check_column(r, at[1]);
	return result;
}

int rule_read_formula(struct rule_reader *r, struct formula *ret, struct text_part text)
{
	char why[120];
	int result = formula_parse_row(ret, text.text, text.len, why, sizeof(why));

	if (result < 0)
		return result == -EINVAL ? rule_refuse(r, "%s", why) : rule_no_memory(r);
	for (size_t i = 0; result == 0 && i < ret->count; i++)
		if (ret->steps[i].metric)
			result = check_name(r, ret->steps[i].metric);
	return result;
}

static int read_condition(struct rule_reader *r, struct written_conditions *ret, struct text_part text)
{
	struct written_condition *grown = rule_grow(ret->items, ret->count, sizeof(*grown)), *made;
	struct text_part left = { text.text, 0 }, right;
	bool equal;

	if (!grown)
		return rule_no_memory(r);
	ret->items = grown;
	made = &grown[ret->count++];
	while (left.len < text.len && text.text[left.len] != '<' && text.text[left.len] != '>')
		left.len++;
	if (left.len == text.len)
		return rule_refuse(r, "a condition compares two values: >=, >, <= or <");
	equal = left.len + 1 < text.len && text.text[left.len + 1] == '=';
	if (text.text[left.len] == '>')
		made->comparison = equal ? WRITTEN_AT_LEAST : WRITTEN_MORE;
	else
		made->comparison = equal ? WRITTEN_AT_MOST : WRITTEN_LESS;
	right = (struct text_part){ text.text + left.len + 1 + equal, text.len - left.len - 1 - equal };
	TRY(rule_read_formula(r, &made->left, text_trim(left)));
	return rule_read_formula(r, &made->right, text_trim(right));
}

int rule_read_conditions(struct rule_reader *r, struct written_conditions *ret, struct text_part text)
{
	static const char and[] = " and ";
	int result = 0;

	while (result == 0) {
		const char *at = memmem(text.text, text.len, and, strlen(and));
		struct text_part one = { text.text, at ? (size_t)(at - text.text) : text.len };

		result = read_condition(r, ret, text_trim(one));
		if (!at)
			break;
		text = (struct text_part){ at + strlen(and), text.len - one.len - strlen(and) };
	}
	return result;
}

static struct written_part *add_text_part(struct written_text *text, enum written_kind kind)
{
	struct written_part *grown = rule_grow(text->parts, text->count, sizeof(*grown));

	if (!grown)
		return NULL;
	text->parts = grown;
	grown[text->count].kind = kind;
	return &grown[text->count++];
}

static int add_words(struct rule_reader *r, struct written_text *text, const char *words, size_t len)
{
	struct written_part *p = len ? add_text_part(text, WRITTEN_WORDS) : NULL;

	if (!len)
		return 0;
	if (p)
		p->words = strndup(words, len);
	return p && p->words ? 0 : rule_no_memory(r);
}

static int add_text_column(struct rule_reader *r, struct written_text *text, char digit)
{
	struct written_part *p = check_column(r, digit) < 0 ? NULL : add_text_part(text, WRITTEN_COLUMN);

	if (!p)
		return -EINVAL;
	p->column = (size_t)(digit - '1');
	return 0;
}

/* Between braces: formula|decimals. */
static int add_value(struct rule_reader *r, struct written_text *text, struct text_part inside)
{
	struct text_part formula = inside, decimals;
	struct written_part *p = add_text_part(text, WRITTEN_VALUE);

	if (!p)
		return rule_no_memory(r);
	p->decimals = 1;
	if (text_split(inside, '|', &formula, &decimals)) {
		if (decimals.len != 1 || decimals.text[0] < '0' || decimals.text[0] > '0' + MOST_DECIMALS)
			return rule_refuse(r, "behind '|' is the number of decimals, 0 to 6");
		p->decimals = decimals.text[0] - '0';
	}
	return rule_read_formula(r, &p->value, text_trim(formula));
}

static bool take_rule_word(struct text_part *text, const char *word)
{
	size_t len = strlen(word);

	if (text->len < len || memcmp(text->text, word, len) != 0 || (text->len > len && text->text[len] != ' '))
		return false;
	*text = text_trim((struct text_part){ text->text + len, text->len - len });
	return true;
}

static enum written_pick take_pick(struct text_part *text)
{
	if (take_rule_word(text, "each"))
		return WRITTEN_EACH;
	if (take_rule_word(text, "largest"))
		return WRITTEN_LARGEST;
	return take_rule_word(text, "least") ? WRITTEN_LEAST : WRITTEN_NO_LIST;
}

/* each LIST when CONDITIONS, or one of both. */
static int read_block_head(struct rule_reader *r, struct written_block *block, struct text_part head)
{
	struct text_part name = head, rest = { "", 0 };
	int list;

	block->pick = take_pick(&head);
	if (block->pick != WRITTEN_NO_LIST) {
		if (!text_split(head, ' ', &name, &rest))
			name = head;
		list = rule_find_list(r->rule, name);
		if (list < 0)
			return rule_refuse(r, "there is no list '%.*s' above", (int)name.len, name.text);
		if (r->row)
			return rule_refuse(r, "there is a row of '%s' here already", r->row->name);
		block->list = (size_t)list;
		r->row = &r->rule->lists[list];
		head = rest;
		if (!head.len)
			return 0;
	}
	if (!take_rule_word(&head, "when"))
		return rule_refuse(r, "expected 'when' and conditions, then ': ' and text");
	return rule_read_conditions(r, &block->conditions, head);
}

static int read_parts(struct rule_reader *r, struct written_text *ret, struct text_part text, unsigned depth);

static int add_block(struct rule_reader *r, struct written_text *text, struct text_part inside, unsigned depth)
{
	const struct written_list *row = r->row;
	const char *colon = memmem(inside.text, inside.len, ": ", 2);
	struct written_part *p = add_text_part(text, WRITTEN_BLOCK);
	struct written_block *block = p ? calloc(1, sizeof(*block)) : NULL;
	size_t head;
	int result;

	if (!block)
		return rule_no_memory(r);
	p->block = block;
	if (!colon)
		return rule_refuse(r, "expected ': ' and text behind 'each', 'largest', 'least' or 'when'");
	head = (size_t)(colon - inside.text);
	result = read_block_head(r, block, text_trim((struct text_part){ inside.text, head }));
	if (result == 0)
		result = read_parts(r, &block->text, (struct text_part){ colon + 2, inside.len - head - 2 }, depth + 1);
	r->row = row;
	return result;
}

static bool is_block(struct text_part inside)
{
	return take_pick(&inside) != WRITTEN_NO_LIST || take_rule_word(&inside, "when");
}

/* The brace that closes the one at `open`, or NULL. */
static const char *find_close(const char *open, const char *end)
{
	unsigned depth = 0;

	for (const char *at = open; at < end; at++) {
		depth += *at == '{';
		if (*at == '}' && --depth == 0)
			return at;
	}
	return NULL;
}

/* What begins with a brace; the place behind it, or NULL. */
static const char *read_braces(struct rule_reader *r, struct written_text *ret, const char *open, const char *end, unsigned depth)
{
	const char *close = find_close(open, end);
	struct text_part inside = { open + 1, close ? (size_t)(close - open) - 1 : 0 };
	int result;

	if (!close)
		result = rule_refuse(r, "'{' has no '}'");
	else if (depth == WRITTEN_MOST_DEPTH)
		result = rule_refuse(r, "braces are nested too deeply");
	else
		result = is_block(inside) ? add_block(r, ret, inside, depth) : add_value(r, ret, inside);
	return result < 0 ? NULL : close + 1;
}

static bool is_column(const char *at, const char *end)
{
	return *at == '$' && at + 1 < end && at[1] >= '0' && at[1] <= '9';
}

static int read_parts(struct rule_reader *r, struct written_text *ret, struct text_part text, unsigned depth)
{
	const char *at = text.text, *end = text.text + text.len, *next;
	int result = 0;

	while (result == 0 && at < end) {
		for (next = at; next < end && *next != '{' && !is_column(next, end);)
			next++;
		result = add_words(r, ret, at, (size_t)(next - at));
		if (result < 0 || next == end)
			break;
		if (*next == '$') {
			result = add_text_column(r, ret, next[1]);
			at = next + 2;
		} else {
			at = read_braces(r, ret, next, end, depth);
			result = at ? 0 : -EINVAL;
		}
	}
	return result;
}

int rule_read_text(struct rule_reader *r, struct written_text *ret, struct text_part text)
{
	return read_parts(r, ret, text, 0);
}

void rule_release_conditions(struct written_conditions *conditions)
{
	for (size_t i = 0; i < conditions->count; i++) {
		formula_release(&conditions->items[i].left);
		formula_release(&conditions->items[i].right);
	}
	free(conditions->items);
}

void rule_release_text(struct written_text *text)
{
	for (size_t i = 0; i < text->count; i++) {
		struct written_part *p = &text->parts[i];

		free(p->words);
		formula_release(&p->value);
		if (p->block) {
			rule_release_conditions(&p->block->conditions);
			rule_release_text(&p->block->text);
		}
		free(p->block);
	}
	free(text->parts);
}
