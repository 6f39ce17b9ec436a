#include "kernel/pages/rule_lines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text/path.h"
#include "kernel/pages/source.h"

static void name_place(const struct source_item *item, char *ret, size_t size)
{
	if (item->line)
		snprintf(ret, size, "%s:%u", path_name(item->file), item->line);
	else
		snprintf(ret, size, "0x%04x%s%s", item->pc, *item->sass ? " " : "", item->sass);
}

static double find_line_value(const struct kernel_source *s, const struct source_item *item, const char *metric)
{
	double value = metric ? source_value(s, item, metric) : 0;

	return isfinite(value) ? value : 0;
}

size_t source_worst_lines(const struct kernel_source *s, const char *more, const char *less, struct rule_line *ret, size_t room)
{
	size_t count = 0, at;

	for (size_t i = 0; i < s->count; i++) {
		struct rule_line line = { .more = find_line_value(s, &s->items[i], more), .less = find_line_value(s, &s->items[i], less) };

		if (line.more - line.less <= 0)
			continue;
		for (at = count; at > 0 && ret[at - 1].more - ret[at - 1].less < line.more - line.less; at--)
			if (at < room)
				ret[at] = ret[at - 1];
		if (at >= room)
			continue;
		name_place(&s->items[i], line.place, sizeof(line.place));
		line.stall = source_main_stall(s, &s->items[i], &line.stall_share);
		ret[at] = line;
		count += count < room;
	}
	return count;
}
