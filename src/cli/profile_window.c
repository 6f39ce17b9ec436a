#include "cli/profile_window.h"

#include <errno.h>
#include <string.h>

/* Where the domain's @ is, or NULL. */
static const char *divider(const char *text)
{
	const char *found = NULL;

	for (; *text; text++) {
		if (text[0] == '\\' && text[1] == '@')
			text++;
		else if (*text == '@')
			found = text;
	}
	return found;
}

/* Without the backslashes of "\@". */
static int unescape(char *to, size_t room, const char *text, const char *end)
{
	size_t size = 0;

	for (; text < end; text++) {
		if (text[0] == '\\' && text + 1 < end && text[1] == '@')
			text++;
		if (size + 1 >= room)
			return -1;
		to[size++] = *text;
	}
	to[size] = '\0';
	return 0;
}

int profile_nvtx_name(struct nvtx_capture *capture, const char *option, const char *text, struct error *err)
{
	const char *at = divider(text), *end = text + strlen(text);

	capture->any_domain = at && strcmp(at, "@*") == 0;
	if (unescape(capture->range, sizeof(capture->range), text, at ? at : end) < 0 ||
	    (at && !capture->any_domain && unescape(capture->domain, sizeof(capture->domain), at + 1, end) < 0))
		return error_set(err, EINVAL, "--%s: a range may have %u bytes and a domain %u.", option, RING_NVTX_RANGE,
				 RING_NVTX_DOMAIN);
	if (!capture->range[0])
		return error_set(err, EINVAL, "--%s=%s names no range.", option, text);
	return 0;
}

int profile_nvtx_capture(struct profile_options *o, const char *text, struct error *err)
{
	int r;

	if (!text || !*text)
		return error_set(err, EINVAL, "--capture-range=nvtx needs the range that it waits for: --nvtx-capture=range@domain.");
	r = profile_nvtx_name(&o->nvtx_capture, "nvtx-capture", text, err);
	if (r < 0)
		return r;
	o->capture_range = CAPTURE_RANGE_NVTX;
	o->trace |= TRACE_BIT(TRACE_NVTX);
	return 0;
}
