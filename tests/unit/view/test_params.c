/* Addresses of requests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <cmocka.h>

#include "view/request/json_out.h"
#include "view/request/params.h"

static void good(void **state)
{
	struct params p;
	struct error err;
	int64_t value;

	assert_int_equal(params_parse(&p, "/api/%74iles?a=1&b=x%2Cy+z&&c", &err), 0);
	assert_string_equal(p.path, "/api/tiles");
	assert_string_equal(params_text(&p, "b"), "x,y z");
	assert_string_equal(params_text(&p, "c"), "");
	assert_null(params_text(&p, "d"));
	assert_int_equal(params_all_used(&p, &err), -EINVAL);
	assert_int_equal(params_integer(&p, "a", 0, 9, &value, &err), 0);
	assert_int_equal(value, 1);
	assert_int_equal(params_all_used(&p, &err), 0);
	assert_int_equal(params_integer_or(&p, "d", 0, 9, 7, &value, &err), 0);
	assert_int_equal(value, 7);
	params_release(&p);
}

static void bad(void **state)
{
	/* clang-format off */
	static const char *const uris[] = { "", "x", "http://localhost/", "/?a=%", "/?a=%4", "/?a=%zz", "/%00", "/?a=%00", "/?a=1&a=2", "/?%61=1&a=2",
					    "/?a=\x01", "/?1&2&3&4&5&6&7&8&9&10&11&12&13&14&15&16&17" };
	/* clang-format on */
	struct params p;
	struct error err;

	for (size_t i = 0; i < sizeof(uris) / sizeof(uris[0]); i++)
		assert_int_equal(params_parse(&p, uris[i], &err), -EINVAL);
}

static void numbers(void **state)
{
	static const char *const none[] = { "", "-", "+1", " 1", "1 ", "1x", "0x1", "1.5", "9223372036854775808", "10", "-1" };
	char uri[64];
	struct params p;
	struct error err;
	int64_t value;

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		snprintf(uri, sizeof(uri), "/?n=%s", none[i]);
		assert_int_equal(params_parse(&p, uri, &err), 0);
		assert_int_equal(params_integer(&p, "n", 0, 9, &value, &err), -EINVAL);
		params_release(&p);
	}
	assert_int_equal(params_parse(&p, "/?n=-9223372036854775808", &err), 0);
	assert_int_equal(params_integer(&p, "n", INT64_MIN, 0, &value, &err), 0);
	assert_int_equal(value, INT64_MIN);
	assert_int_equal(params_integer(&p, "m", 0, 1, &value, &err), -EINVAL);
	params_release(&p);
}

static void json(void **state)
{
	struct buf b = BUF_INIT;
	struct json_out j;

	out_begin(&j, &b);
	out_open(&j, '{');
	out_put_text(&j, "a\"b", "x\\\n\x7f\xc3\xa9\xff\xed\xa0\x80\xf4\x90\x80\x80");
	out_put_integer(&j, "n", INT64_C(-5));
	out_key(&j, "big");
	out_exact(&j, INT64_MAX);
	out_key(&j, "list");
	out_open(&j, '[');
	out_real(&j, 0.5);
	out_real(&j, 1.0 / 0.0);
	out_bool(&j, true);
	out_open(&j, '{');
	out_close(&j, '}');
	out_close(&j, ']');
	out_close(&j, '}');
	assert_int_equal(j.r, 0);
	assert_string_equal(buf_cstr(&b),
			    "{\"a\\\"b\":\"x\\\\\\n\\u007f\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
			    "\xef\xbf\xbd\xef\xbf\xbd\",\"n\":-5,\"big\":\"9223372036854775807\",\"list\":[0.5,null,true,{}]}");
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good),
		cmocka_unit_test(bad),
		cmocka_unit_test(numbers),
		cmocka_unit_test(json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
