#include "view/events/text_match.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/report/event_names.h"

static bool has_text(const struct match *m, const char *in)
{
	return strcasestr(in, m->text) != NULL;
}

int match_open(struct match *m, struct view_report *r, const char *text)
{
	size_t len;

	*m = (struct match){ .r = r, .limit = report_string_limit(r->report) };
	m->limit = m->limit < NAME_MADE ? m->limit : NAME_MADE;
	m->text = strdup(text);
	m->bits = calloc(m->limit / 64 + 1, sizeof(*m->bits));
	if (!m->text || !m->bits)
		return -ENOMEM;
	for (uint64_t id = 1; id < m->limit; id++) {
		const char *in = view_report_text(r, id, &len);

		if (!in || !has_text(m, in))
			continue;
		m->bits[id / 64] |= UINT64_C(1) << (id % 64);
		m->count++;
	}
	return 0;
}

void match_release(struct match *m)
{
	free(m->text);
	free(m->bits);
	free(m->launches.ids);
	free(m->sets.ids);
}

bool match_has(struct match *m, uint32_t name)
{
	_Atomic uint64_t *slot = &m->remembered[(name ^ name >> 24) % MATCH_REMEMBERED];
	uint64_t known;
	struct buf derived = BUF_INIT;
	bool has;

	if (name < NAME_MADE)
		return name < m->limit && m->bits[name / 64] >> (name % 64) & 1;
	known = atomic_load_explicit(slot, memory_order_relaxed);
	if (known >> 32 && (uint32_t)known == name)
		return known >> 33;
	has = name_text(m->r, name, &derived) == 0 && derived.data && has_text(m, buf_cstr(&derived));
	buf_release(&derived);
	atomic_store_explicit(slot, UINT64_C(1) << 32 | (uint64_t)has << 33 | name, memory_order_relaxed);
	return has;
}
