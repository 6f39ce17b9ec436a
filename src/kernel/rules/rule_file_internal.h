/* Between the files that read rules. */
#ifndef SONDE_KERNEL_RULES_RULE_FILE_INTERNAL_H
#define SONDE_KERNEL_RULES_RULE_FILE_INTERNAL_H

#include "kernel/rules/rule_file.h"
#include "kernel/metrics/text_file.h"

struct rule_reader {
	struct text_lines lines;
	struct written_rule *rule;
	struct written_list *list;      /* that is being read, or NULL */
	const struct written_list *row; /* whose columns can be named here, or NULL */
	struct error *err;
};

/* -EINVAL with file and line. */
int rule_refuse(struct rule_reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
int rule_no_memory(struct rule_reader *r);
/* `items` with one more behind `count` of them, all zero; NULL: no memory. */
void *rule_grow(void *items, size_t count, size_t size);
/* -1: there is none of that name. */
int rule_find_list(const struct written_rule *rule, struct text_part name);

int rule_read_formula(struct rule_reader *r, struct formula *ret, struct text_part text);
/* CONDITION and CONDITION ... */
int rule_read_conditions(struct rule_reader *r, struct written_conditions *ret, struct text_part text);
/* Words with {values}, $columns and {blocks: of such text}. */
int rule_read_text(struct rule_reader *r, struct written_text *ret, struct text_part text);
void rule_release_conditions(struct written_conditions *conditions);
void rule_release_text(struct written_text *text);

#endif
