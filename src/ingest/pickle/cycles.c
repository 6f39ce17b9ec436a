/* Whether a part of a pickle contains itself: depth first, with a stack of its own as the file says how deep parts lie. */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "ingest/pickle/values.h"

enum { UNSEEN, OPEN, DONE };

struct visit {
	struct pickle_items at;
	uint32_t value;
};

struct search {
	const struct pickle *of;
	uint8_t *states; /* of values */
	struct visit *open;
	size_t count, cap;
};

static int enter_value(struct search *s, uint32_t value)
{
	struct visit *visit = ARRAY_ADD(s->open, s->count, s->cap);

	if (!visit)
		return -ENOMEM;
	*visit = (struct visit){ pickle_items(s->of, pickle_value(s->of, value)), value };
	s->states[value] = OPEN;
	return 0;
}

static int search_cycle(struct search *s)
{
	int r = enter_value(s, s->of->top);
	uint32_t item;

	while (r == 0 && s->count) {
		struct visit *visit = &s->open[s->count - 1];

		if (!pickle_next(&visit->at, &item)) {
			s->states[visit->value] = DONE;
			s->count--;
		} else if (s->states[item] == OPEN) {
			return 1;
		} else if (s->states[item] == UNSEEN && pickle_value(s->of, item)->count) {
			r = enter_value(s, item);
		}
	}
	return r;
}

int values_have_cycle(const struct pickle *p)
{
	struct search s = { .of = p, .states = calloc(p->value_count, 1) };
	int r = s.states ? search_cycle(&s) : -ENOMEM;

	free(s.states);
	free(s.open);
	return r;
}
