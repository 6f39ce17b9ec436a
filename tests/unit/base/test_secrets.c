#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/text/secrets.h"

static void test_names(void **state)
{
	/* clang-format off */
	static const char *const secret[] = { "HF_TOKEN", "token", "hf-token", "api_key", "apiKey", "AWS_SECRET_ACCESS_KEY", "db-password", "PGPASSWORD",
					      "MYSQL_PWD", "github.token", "authToken", "HFToken", "ssh-key", "SLURM_JWT", "GITHUB_TOKEN_2",
					      "client-secret", "Authorization", "key", NULL };
	static const char *const plain[] = { "max-tokens", "tokenizer", "TOKENIZERS_PARALLELISM", "num_tokens", "key-padding-mask", "PWD", "monkeys",
					     "keyframes", "hotkey-capture", "author", "bypass-cache", "kernel-name", "", "---", NULL };
	/* clang-format on */

	(void)state;
	for (size_t i = 0; secret[i]; i++)
		if (!secret_name(secret[i], strlen(secret[i])))
			fail_msg("%s", secret[i]);
	for (size_t i = 0; plain[i]; i++)
		if (secret_name(plain[i], strlen(plain[i])))
			fail_msg("%s", plain[i]);
}

static void test_values(void **state)
{
	/* clang-format off */
	static const char *const secret[] = { "https://joe:pa55@host/x", "http://0123456789abcdef0123@host", "AKIAIOSFODNN7EXAMPLE",
					      "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH",
					      "Bearer abcdef0123", "-----BEGIN RSA PRIVATE KEY-----", "x=ghp_abcdefghijklmnopqrst0123456789",
					      "4f1d0c9b8e2a7f6d5c3b1a0e9d8f7c6b5a4e3d2c", "q7Zt1XbW9cR4vY2nM8kL5jH3gF6dS0aP", NULL };
	static const char *const plain[] = { "", "4096", "/usr/lib/x86_64-linux-gnu:/opt/lib", "https://host/path", "ssh://git@host/repo",
					     "GPU-01234567-89ab-cdef-0123-456789abcdef", "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x64x8_stage3",
					     "regex:void cutlass::Kernel2<cutlass_80_simt_sgemm_128x64_8x5>", "_ZN2at6native29vectorized_elementwise_kernelILi4EE",
					     "/nix/store/0c7j8r5k6n1m4w3x9v2b8z7q5p1l4k6h-glibc-2.37/lib", "expandable_segments:True,max_split_size_mb:512",
					     "TheQuickBrownFoxJumpsOverTheLazyDog", "2026-11-16T10:00:00", NULL };
	/* clang-format on */

	(void)state;
	for (size_t i = 0; secret[i]; i++)
		if (!secret_value(secret[i], strlen(secret[i])))
			fail_msg("%s", secret[i]);
	for (size_t i = 0; plain[i]; i++)
		if (secret_value(plain[i], strlen(plain[i])))
			fail_msg("%s", plain[i]);
}

static void variable(const char *given, const char *want, size_t want_changed)
{
	struct buf b = BUF_INIT;
	size_t changed = 0;

	if (!environment_clean(given, &b, &changed)) {
		if (want)
			fail_msg("%s was left out", given);
	} else if (!want || strcmp(buf_cstr(&b), want) != 0 || changed != want_changed) {
		fail_msg("%s became %s", given, buf_cstr(&b));
	}
	buf_release(&b);
}

static void test_environment(void **state)
{
	(void)state;
	variable("CUDA_VISIBLE_DEVICES=0,1", "CUDA_VISIBLE_DEVICES=0,1", 0);
	variable("OMP_NUM_THREADS=4", "OMP_NUM_THREADS=4", 0);
	variable("PATH=/bin:/usr/bin", "PATH=/bin:/usr/bin", 0);
	variable("RANK=3", "RANK=3", 0);
	variable("TOKENIZERS_PARALLELISM=false", "TOKENIZERS_PARALLELISM=false", 0);
	variable("TORCHINDUCTOR_CACHE_DIR=/x", "TORCHINDUCTOR_CACHE_DIR=/x", 0);
	variable("HF_TOKEN=abc", "HF_TOKEN=<secret>", 1);
	variable("HF_TOKEN=", "HF_TOKEN=", 0);
	variable("SLURM_JWT=abc", "SLURM_JWT=<secret>", 1);
	variable("NCCL_ANYTHING=http://a:b@c", "NCCL_ANYTHING=<secret>", 1);
	variable("AWS_SECRET_ACCESS_KEY=abc", NULL, 0);
	variable("EDITOR=vi", NULL, 0);
	variable("PATHOLOGY=x", NULL, 0);
	variable("CUDAX=x", NULL, 0);
	variable("SONDE_SESSION=1:a:b", NULL, 0);
	variable("TF_VAR_db=x", NULL, 0);
	variable("TF_CPP_MIN_LOG_LEVEL=1", "TF_CPP_MIN_LOG_LEVEL=1", 0);
	variable("=x", NULL, 0);
	variable("", NULL, 0);
}

/* Words with '|' between. */
static void line(const char *given, const char *want, size_t want_replaced)
{
	struct secret_words words = { 0 };
	struct buf b = BUF_INIT, all = BUF_INIT;
	char text[512], *save = NULL, *word;

	snprintf(text, sizeof(text), "%s", given);
	for (word = strtok_r(text, "|", &save); word; word = strtok_r(NULL, "|", &save)) {
		buf_clear(&b);
		assert_int_equal(secret_words_clean(&words, word, &b), 0);
		buf_puts(&all, all.len ? "|" : "");
		buf_puts(&all, buf_cstr(&b));
	}
	assert_string_equal(buf_cstr(&all), want);
	assert_int_equal(words.replaced, want_replaced);
	buf_release(&b);
	buf_release(&all);
}

static void test_arguments(void **state)
{
	(void)state;
	line("app|--password=abc|x", "app|--password=<secret>|x", 1);
	line("app|--password=a b;c|x", "app|--password=<secret>|x", 1);
	line("app|--token|abc|x", "app|--token|<secret>|x", 1);
	line("app|--token|--verbose|x", "app|--token|--verbose|x", 0);
	line("app|--max-tokens|4096|--sort-key|2|--key=true", "app|--max-tokens|4096|--sort-key|2|--key=true", 0);
	line("app|--password|1234", "app|--password|<secret>", 1);
	line("app|-e|A=B,HF_TOKEN=abc,C=D", "app|-e|A=B,HF_TOKEN=<secret>", 1);
	line("env|DB_PASSWORD=x|app|-pSECRET", "env|DB_PASSWORD=<secret>|app|-pSECRET", 1);
	line("sh|-c|export HF_TOKEN=abc; run --password foo bar", "sh|-c|export HF_TOKEN=<secret>; run --password <secret> bar", 2);
	line("sh|-c|run --token 'foo bar' baz", "sh|-c|run --token <secret> baz", 1);
	line("curl|-H|Authorization: Bearer abc def|x", "curl|-H|Authorization: <secret>|x", 1);
	line("app|{\"api_key\": \"abc\", \"n\": 3}", "app|{\"api_key\": <secret>, \"n\": 3}", 1);
	line("git|clone|https://joe:pw@host/r", "git|clone|<secret>", 1);
	line("app|--repo=https://joe:pw@host/r|y", "app|--repo=<secret>|y", 1);
	line("app|--password abc --n 3", "app|--password <secret> --n 3", 1);
	line("app|--sort=key:up|a::key::b|k=v", "app|--sort=key:up|a::key::b|k=v", 0);
	line("app|-----BEGIN PRIVATE KEY-----\nabc\n|y", "app|<secret>|y", 1);
}

/* Each part may begin something that goes on to the end. In seconds of the processor's time: it took hours. */
static void test_long(void **state)
{
	static const char *const parts[] = { "-", "+", "a=", "=", "eyJ-", "eyJ.", "://u", "\"", "token ", "a:", "/", "ab+", ":" };
	enum { SIZE = 1 << 21 };
	clock_t begin = clock();
	struct buf ret = BUF_INIT;
	char *text = malloc(SIZE + 1);

	(void)state;
	assert_non_null(text);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct secret_words words = { 0 };

		for (size_t at = 0; at < SIZE; at++)
			text[at] = parts[i][at % strlen(parts[i])];
		text[SIZE] = '\0';
		buf_clear(&ret);
		assert_true(secret_words_clean(&words, text, &ret) >= 0);
		assert_int_equal(words.replaced, 0);
		assert_int_equal(ret.len, SIZE);
		assert_true(clock() - begin < 60 * CLOCKS_PER_SEC);
	}
	buf_release(&ret);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),     cmocka_unit_test(test_values), cmocka_unit_test(test_environment),
		cmocka_unit_test(test_arguments), cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
