#include "view/screenshot/screenshot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/system/output_path.h"
#include "view/screenshot/devtools.h"

#define LEAST_SIDE 100
#define MOST_SIDE 16384
#define LOOK_AGAIN_US 50000

bool screenshot_size(const char *text, int *ret_width, int *ret_height)
{
	int read = 0;

	return sscanf(text, "%5dx%5d%n", ret_width, ret_height, &read) == 2 && !text[read] && *ret_width >= LEAST_SIDE &&
	       *ret_width <= MOST_SIDE && *ret_height >= LEAST_SIDE && *ret_height <= MOST_SIDE;
}

struct shot {
	const struct screenshot *wanted;
	struct devtools devtools;
	char session[128];
	struct buf result;
};

static int call_devtools(struct shot *s, struct error *err, const char *method, const char *parameters)
{
	return devtools_call(&s->devtools, s->session[0] ? s->session : NULL, method, parameters, &s->result, err);
}

/* A text of the last result, copied. */
static int copy_result_text(struct shot *s, const char *key, char *ret, size_t size, struct error *err)
{
	size_t len;
	const char *text = devtools_text(&s->result, key, &len);

	if (!text || len >= size)
		return error_set(err, EPROTO, "The browser sent an unexpected answer");
	memcpy(ret, text, len);
	ret[len] = '\0';
	return 0;
}

static int open_page(struct shot *s, struct error *err)
{
	char target[128], parameters[700];

	TRY(call_devtools(s, err, "Target.createTarget", "{\"url\":\"about:blank\"}"));
	TRY(copy_result_text(s, "targetId", target, sizeof(target), err));
	snprintf(parameters, sizeof(parameters), "{\"targetId\":\"%s\",\"flatten\":true}", target);
	TRY(call_devtools(s, err, "Target.attachToTarget", parameters));
	TRY(copy_result_text(s, "sessionId", s->session, sizeof(s->session), err));
	snprintf(parameters, sizeof(parameters), "{\"width\":%d,\"height\":%d,\"deviceScaleFactor\":1,\"mobile\":false}", s->wanted->width,
		 s->wanted->height);
	TRY(call_devtools(s, err, "Emulation.setDeviceMetricsOverride", parameters));
	snprintf(parameters, sizeof(parameters), "{\"url\":\"%s\"}", s->wanted->url);
	return call_devtools(s, err, "Page.navigate", parameters);
}

static int evaluate_in_page(struct shot *s, const char *expression, struct error *err)
{
	struct buf parameters = BUF_INIT;
	int r = buf_printf(&parameters, "{\"expression\":\"%s\",\"awaitPromise\":true}", expression);

	r = r < 0 ? error_set(err, ENOMEM, "Not enough memory") : call_devtools(s, err, "Runtime.evaluate", buf_cstr(&parameters));
	buf_release(&parameters);
	return r;
}

static void decode_percent(char *text)
{
	char *to = text, digits[3] = { 0 };

	for (; *text; text++) {
		if (*text == '%' && text[1] && text[2]) {
			memcpy(digits, text + 1, 2);
			*to++ = (char)strtol(digits, NULL, 16);
			text += 2;
		} else {
			*to++ = *text;
		}
	}
	*to = '\0';
}

/* Until all that was asked for has come and is drawn, for two frames. What the page complains of before it has begun ends it. */
static int wait_until_drawn(struct shot *s, struct error *err)
{
	static const char look[] =
		"(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {"
		" const box = document.getElementById('message');"
		" if (window.sonde && window.sonde.settled) done('drawn');"
		" else done(box && !box.hidden && !window.sonde ? 'wrong' + encodeURIComponent(box.textContent) : 'not yet');"
		"}))))()";
	char said[1024];
	int r, calm = 0;

	while (calm < 2) {
		r = evaluate_in_page(s, look, err);
		if (r < 0 && r != -EREMOTEIO)
			return r;
		/* While it goes from one page to the next there is none to ask. */
		if (r < 0 || copy_result_text(s, "value", said, sizeof(said), err) < 0)
			said[0] = '\0';
		if (strncmp(said, "wrong", 5) == 0) {
			decode_percent(said);
			return error_set(err, EIO, "The page says: %s", said + 5);
		}
		calm = strcmp(said, "drawn") == 0 ? calm + 1 : 0;
		usleep(LOOK_AGAIN_US);
	}
	return 0;
}

static int show_times(struct shot *s, struct error *err)
{
	char expression[128];

	if (!s->wanted->has_times)
		return 0;
	snprintf(expression, sizeof(expression), "window.sonde.view.show(%lld, %lld, true)", (long long)s->wanted->from,
		 (long long)s->wanted->to);
	return evaluate_in_page(s, expression, err);
}

static int digit_value(char c)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

static void write_base64(FILE *out, const char *text, size_t len)
{
	uint32_t bits = 0;
	unsigned waiting = 0; /* bits that are no whole byte yet */

	for (size_t i = 0; i < len && digit_value(text[i]) >= 0; i++) {
		bits = bits << 6 | (uint32_t)digit_value(text[i]);
		waiting += 6;
		if (waiting >= 8) {
			waiting -= 8;
			putc((int)(bits >> waiting & 0xff), out);
		}
	}
}

static int write_screenshot(const struct output_path *place, const char *text, size_t len)
{
	FILE *out = output_path_open(place);
	int r = 0;

	if (!out)
		return -errno;
	write_base64(out, text, len);
	if (ferror(out))
		r = -EIO;
	if (fclose(out) != 0)
		r = errno ? -errno : -EIO;
	if (r == 0)
		r = output_path_keep(place, true);
	if (r < 0)
		unlinkat(place->folder, place->part, 0);
	return r;
}

static int write_picture(struct shot *s, struct error *err)
{
	size_t len = 0;
	const char *text = devtools_text(&s->result, "data", &len);
	struct output_path place;
	int r;

	if (!text)
		return error_set(err, EPROTO, "The browser gave no picture");
	TRY(output_path_find(&place, s->wanted->path, err));
	r = write_screenshot(&place, text, len);
	output_path_release(&place);
	return r < 0 ? error_set_errno(err, -r, "'%s' cannot be written", s->wanted->path) : 0;
}

static void shot_release(struct shot *s)
{
	devtools_close(&s->devtools);
	buf_release(&s->result);
}

int screenshot_take(const struct screenshot *wanted, struct error *err)
{
	CLEANUP(shot_release) struct shot s = { .wanted = wanted, .result = BUF_INIT };

	TRY(devtools_open(&s.devtools, wanted->browser, wanted->stop_fd, wanted->seconds, err));
	TRY(open_page(&s, err));
	TRY(wait_until_drawn(&s, err));
	TRY(show_times(&s, err));
	TRY(wait_until_drawn(&s, err));
	TRY(call_devtools(&s, err, "Page.captureScreenshot", "{\"format\":\"png\"}"));
	return write_picture(&s, err);
}
