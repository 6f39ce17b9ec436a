#include "view/request/params.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int read_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* In place. False for bad escapes, NULs and other control characters. */
static bool decode_param(char *text, bool plus_is_blank)
{
	char *to = text;

	for (const char *at = text; *at; at++) {
		char c = *at;

		if (c == '%') {
			int high = read_hex_digit(at[1]), low = high < 0 ? -1 : read_hex_digit(at[2]);

			if (low < 0)
				return false;
			c = (char)(high << 4 | low);
			at += 2;
		} else if (c == '+' && plus_is_blank) {
			c = ' ';
		}
		if ((unsigned char)c < 0x20 || c == 0x7f)
			return false;
		*to++ = c;
	}
	*to = '\0';
	return true;
}

static struct param *find_param(struct params *p, const char *name)
{
	for (unsigned i = 0; i < p->count; i++)
		if (strcmp(p->items[i].name, name) == 0)
			return &p->items[i];
	return NULL;
}

static int add_param(struct params *p, char *group, struct error *err)
{
	char *value = strchr(group, '=');

	if (value)
		*value++ = '\0';
	if (!decode_param(group, true) || (value && !decode_param(value, true)))
		return error_set(err, EINVAL, "The address has an escape that is not valid");
	if (find_param(p, group))
		return error_set(err, EINVAL, "%.40s is given twice", group);
	if (p->count == PARAMS_MAX)
		return error_set(err, EINVAL, "There are more than %d parameters", PARAMS_MAX);
	p->items[p->count++] = (struct param){ .name = group, .value = value ? value : "" };
	return 0;
}

int params_parse(struct params *ret, const char *uri, struct error *err)
{
	char *query, *group, *next;
	int r = 0;

	*ret = (struct params){ .room = strdup(uri) };
	if (!ret->room)
		return error_set(err, ENOMEM, "Not enough memory");
	ret->path = ret->room;
	ret->room[strcspn(ret->room, "#")] = '\0';
	query = strchr(ret->room, '?');
	if (query)
		*query++ = '\0';
	if (ret->path[0] != '/' || !decode_param(ret->path, false))
		r = error_set(err, EINVAL, "The address is not a path");
	for (group = query; r == 0 && group; group = next) {
		next = strchr(group, '&');
		if (next)
			*next++ = '\0';
		if (*group)
			r = add_param(ret, group, err);
	}
	if (r < 0)
		params_release(ret);
	return r;
}

void params_release(struct params *p)
{
	free(p->room);
	*p = (struct params){ 0 };
}

const char *params_text(struct params *p, const char *name)
{
	struct param *param = find_param(p, name);

	if (!param)
		return NULL;
	param->used = true;
	return param->value;
}

bool params_number(const char **at, int64_t least, int64_t most, int64_t *ret)
{
	const char *digits = *at + (**at == '-');
	char *end;
	long long value;

	if (*digits < '0' || *digits > '9')
		return false;
	errno = 0;
	value = strtoll(*at, &end, 10);
	if (errno || value < least || value > most)
		return false;
	*at = end;
	*ret = value;
	return true;
}

int params_integer(struct params *p, const char *name, int64_t least, int64_t most, int64_t *ret, struct error *err)
{
	const char *text = params_text(p, name);

	if (!text)
		return error_set(err, EINVAL, "%s is missing", name);
	if (!params_number(&text, least, most, ret) || *text)
		return error_set(err, EINVAL, "%s is not a whole number from %lld to %lld", name, (long long)least, (long long)most);
	return 0;
}

int params_integer_or(struct params *p, const char *name, int64_t least, int64_t most, int64_t otherwise, int64_t *ret, struct error *err)
{
	*ret = otherwise;
	return find_param(p, name) ? params_integer(p, name, least, most, ret, err) : 0;
}

int params_all_used(const struct params *p, struct error *err)
{
	for (unsigned i = 0; i < p->count; i++)
		if (!p->items[i].used)
			return error_set(err, EINVAL, "Unknown parameter %.40s", p->items[i].name);
	return 0;
}
