#include <string.h>

#include "ingest/kineto/internal.h"

#define UNNAMED "(anonymous namespace)"

/* Up to the parameters; the last part behind name spaces and return type, without its template arguments. */
const char *kineto_short_name(const char *name, size_t *ret_len)
{
	const char *begin = name, *end = NULL, *p;
	unsigned depth = 0;

	for (p = name; *p; p++) {
		if (strncmp(p, UNNAMED, sizeof(UNNAMED) - 1) == 0) {
			p += sizeof(UNNAMED) - 2;
		} else if (*p == '<') {
			if (!depth++ && !end)
				end = p;
		} else if (*p == '>') {
			depth -= depth > 0;
		} else if (depth) {
			continue;
		} else if (*p == '(') {
			break;
		} else if (*p == ' ' || (*p == ':' && p[1] == ':')) {
			begin = p + (*p == ':' ? 2 : 1);
			p += *p == ':';
			end = NULL;
		}
	}
	end = end ? end : p;
	if (end <= begin) {
		begin = name;
		end = name + strlen(name);
	}
	*ret_len = (size_t)(end - begin);
	return begin;
}
