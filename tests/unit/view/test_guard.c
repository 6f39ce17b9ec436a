/* Who may read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "view/server/guard.h"

static void hosts(void **state)
{
	static const char *const ours[] = {
		"localhost", "localhost:7300", "LOCALHOST:1", "127.0.0.1:7300", "127.1.2.3", "[::1]:80", "[::1]"
	};
	/* clang-format off */
	static const char *const others[] = { "", ":", "localhost.evil.example", "evil.example:7300", "127.0.0.1.evil.example", "10.0.0.1:7300",
					      "[::1", "[]", "[::2]:1", "localhost:1x", "localhost:1:2", "::1", "128.0.0.1", "0.0.0.0" };
	/* clang-format on */
	struct guard g;

	assert_int_equal(guard_init(&g, "127.0.0.1"), 0);
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		assert_true(guard_host_is_ours(&g, ours[i]));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(guard_host_is_ours(&g, others[i]));
	assert_false(guard_host_is_ours(&g, NULL));
}

/* Numbers cannot be made to mean another machine by the owner of a name. */
static void hosts_of_a_wide_server(void **state)
{
	struct guard g;

	assert_int_equal(guard_init(&g, "0.0.0.0"), 0);
	strcpy(g.host_name, "box");
	assert_true(guard_host_is_ours(&g, "10.0.0.1:7300"));
	assert_true(guard_host_is_ours(&g, "box:7300"));
	assert_true(guard_host_is_ours(&g, "[fe80::1]:7300"));
	assert_false(guard_host_is_ours(&g, "box.evil.example:7300"));
	assert_false(guard_host_is_ours(&g, "evil.example"));
}

static void origins(void **state)
{
	assert_true(guard_origin_fits(NULL, "localhost:1"));
	assert_true(guard_origin_fits("http://localhost:1", "localhost:1"));
	assert_false(guard_origin_fits("http://localhost:2", "localhost:1"));
	assert_false(guard_origin_fits("https://localhost:1", "localhost:1"));
	assert_false(guard_origin_fits("null", "localhost:1"));
	assert_false(guard_origin_fits("http://evil.example", "localhost:1"));
	assert_false(guard_origin_fits("http://localhost:1", NULL));
	assert_true(guard_fetch_site_fits(NULL));
	assert_true(guard_fetch_site_fits("same-origin"));
	assert_false(guard_fetch_site_fits("same-site"));
	assert_false(guard_fetch_site_fits("cross-site"));
}

static void tokens(void **state)
{
	char first[GUARD_SECRET_SIZE], other[GUARD_SECRET_SIZE], last[GUARD_SECRET_SIZE];
	struct guard g;

	assert_int_equal(guard_init(&g, "localhost"), 0);
	assert_false(guard_redeem(&g, NULL));
	assert_false(guard_redeem(&g, ""));
	assert_false(guard_redeem(&g, "00000000000000000000000000000000"));
	assert_int_equal(guard_token(&g, first), 0);
	assert_int_equal(guard_token(&g, other), 0);
	assert_string_not_equal(first, other);
	assert_int_equal(strlen(first), 32);
	memcpy(last, first, sizeof(last));
	last[31] ^= 1;
	assert_false(guard_redeem(&g, last));
	assert_true(guard_redeem(&g, first));
	assert_false(guard_redeem(&g, first));
	assert_true(guard_redeem(&g, other));
	/* Those printed long ago make room. */
	guard_token(&g, first);
	for (int i = 0; i < GUARD_TOKENS; i++)
		guard_token(&g, last);
	assert_false(guard_redeem(&g, first));
	assert_true(guard_redeem(&g, last));
}

static void keys(void **state)
{
	struct guard g;
	char text[200];

	assert_int_equal(guard_init(&g, "localhost"), 0);
	assert_int_equal(strlen(g.key), 32);
	assert_true(guard_has_key(&g, g.key));
	snprintf(text, sizeof(text), "%sx", g.key);
	assert_false(guard_has_key(&g, text));
	snprintf(text, sizeof(text), "x%.31s", g.key);
	assert_false(guard_has_key(&g, text));
	snprintf(text, sizeof(text), "%.31s", g.key);
	assert_false(guard_has_key(&g, text));
	assert_false(guard_has_key(&g, NULL));
	assert_false(guard_has_key(&g, ""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts), cmocka_unit_test(hosts_of_a_wide_server), cmocka_unit_test(origins), cmocka_unit_test(tokens),
		cmocka_unit_test(keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
