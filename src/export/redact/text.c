#include "export/redact/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text/json_text.h"
#include "base/macros.h"
#include "base/text/secrets.h"
#include "export/redact/words.h"

#define SHORTEST_MASKED 4 /* numbers look like shorter words */

struct redactor {
	struct private_words words;
	struct private_words folders;
	struct idmap folder_names;
	struct idmap paths;      /* hash of a path -> its number below */
	uint32_t *path_numbers;  /* among those with its last part */
	struct idmap last_parts; /* hash of it -> its number below */
	uint32_t *last_counts;
};

struct redactor *redactor_new(void)
{
	return calloc(1, sizeof(struct redactor));
}

void redactor_free(struct redactor *r)
{
	if (!r)
		return;
	private_words_release(&r->words);
	private_words_release(&r->folders);
	idmap_release(&r->folder_names);
	idmap_release(&r->paths);
	idmap_release(&r->last_parts);
	free(r->path_numbers);
	free(r->last_counts);
	free(r);
}

int redactor_add_host(struct redactor *r, const char *name)
{
	size_t first = strcspn(name, ".");
	int rc = private_words_add(&r->words, WORD_HOST, name, strlen(name));

	/* Its first part stands alone, too, unless it is a number. */
	return rc < 0 || !isalpha((unsigned char)name[0]) ? rc : private_words_add(&r->words, WORD_HOST, name, first);
}

int redactor_add_user(struct redactor *r, const char *name)
{
	return private_words_add(&r->words, WORD_USER, name, strlen(name));
}

int redactor_add_folder(struct redactor *r, const char *path)
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	return path[0] == '/' ? private_words_add(&r->folders, WORD_USER, path, len) : 0;
}

static bool is_own_folder(const struct redactor *r, const char *path, size_t len)
{
	return private_words_has(&r->folders, path, len);
}

static bool is_below_own(const struct redactor *r, const char *path, size_t len)
{
	for (size_t i = 1; i <= len && i <= PRIVATE_MOST; i++)
		if ((i == len || path[i] == '/') && is_own_folder(r, path, i))
			return true;
	return false;
}

/* Grows an array that goes with a map, for what was just numbered. */
static bool number_map_key(struct idmap *map, uint64_t key, uint32_t **values, uint32_t *ret, bool *ret_new)
{
	uint32_t *all;

	*ret = idmap_number(map, key, ret_new);
	if (*ret && *ret_new) {
		all = reallocarray(*values, *ret + 1, sizeof(*all));
		if (!all)
			return false;
		*values = all;
		all[*ret] = 0;
	}
	return *ret != 0;
}

/* The last part of a path; the second of that name with a 2 before it, and so on. */
static int put_last_part(struct redactor *r, const char *path, size_t len, struct buf *ret)
{
	const char *slash = memrchr(path, '/', len);
	const char *last = slash ? slash + 1 : path;
	size_t size = len - (size_t)(last - path);
	uint32_t number, part;
	bool is_new, ignored;

	if (!number_map_key(&r->paths, redact_hash(path, len), &r->path_numbers, &number, &is_new) ||
	    !number_map_key(&r->last_parts, redact_hash(last, size), &r->last_counts, &part, &ignored))
		return -ENOMEM;
	if (is_new)
		r->path_numbers[number] = ++r->last_counts[part];
	if (r->path_numbers[number] > 1)
		buf_printf(ret, "%u/", r->path_numbers[number]);
	return buf_append(ret, last, size);
}

/* What the kernel makes says nothing of anybody. */
static bool is_of_kernel(const char *path, size_t len)
{
	static const char *const tops[] = { "/dev/", "/proc/", "/sys/" };

	for (size_t i = 0; i < COUNT_OF(tops); i++)
		if (len > strlen(tops[i]) && strncmp(path, tops[i], strlen(tops[i])) == 0)
			return strncmp(path, "/dev/shm/", 9) != 0;
	return false;
}

static int put_path(struct redactor *r, const char *path, size_t len, struct buf *ret)
{
	bool ignored;

	if (is_of_kernel(path, len))
		return buf_append(ret, path, len);
	while (len > 1 && path[len - 1] == '/')
		len--;
	if (is_own_folder(r, path, len))
		return buf_printf(ret, "folder-%u", idmap_number(&r->folder_names, redact_hash(path, len), &ignored));
	return put_last_part(r, path, len, ret);
}

static bool ends_path(char c)
{
	return c == '\0' || strchr(" \t\n\r\"'(){}[]<>|,;&`=:", c) != NULL;
}

static size_t count_slashes(const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += text[i] == '/';
	return n;
}

/* Folders at the root of file systems. "/api/v1/users" and "/model/layer1" are none. */
static bool has_usual_top(const char *path, size_t len)
{
	/* clang-format off */
	static const char *const tops[] = { "home", "root", "Users", "tmp", "var", "opt", "usr", "mnt", "media", "srv", "scratch", "etc", "lib", "lib64",
					    "bin", "sbin", "nix", "gpfs", "lustre", "nfs", "run", "dev", "workspace", "app", "export", "Volumes" };
	/* clang-format on */
	size_t top = 1;

	while (top < len && path[top] != '/')
		top++;
	for (size_t i = 0; top < len && i < COUNT_OF(tops); i++)
		if (strlen(tops[i]) == top - 1 && memcmp(path + 1, tops[i], top - 1) == 0)
			return true;
	return false;
}

static bool has_ending(const char *path, size_t len)
{
	size_t n = 0;

	while (n < len && isalnum((unsigned char)path[len - 1 - n]))
		n++;
	return n >= 1 && n <= 5 && n + 2 < len && path[len - 1 - n] == '.' && isalpha((unsigned char)path[len - n]);
}

/* A file of source code, as imported Python functions are named by: torch/nn/modules/module.py(1783): forward */
static bool is_source(const char *token, size_t len)
{
	static const char *const endings[] = { ".py",  ".pyx", ".cu",  ".cuh", ".c",  ".cc", ".cpp",
					       ".cxx", ".h",   ".hpp", ".rs",  ".go", ".jl", ".sh" };

	for (size_t i = 0; i < COUNT_OF(endings); i++) {
		size_t size = strlen(endings[i]);

		if (len > size && memcmp(token + len - size, endings[i], size) == 0)
			return true;
	}
	return false;
}

static bool is_path(const struct redactor *r, enum text_role role, const char *token, size_t len)
{
	if (len < 2 || strncmp(token, "//", 2) == 0)
		return false;
	if (!memchr(token, '/', len))
		return false;
	if (role == TEXT_LINE || is_source(token, len))
		return true;
	if (token[0] != '/')
		return false;
	if (is_below_own(r, token, len) || (role == TEXT_PROSE && count_slashes(token, len) > 1))
		return true;
	return role == TEXT_NAME && count_slashes(token, len) > 1 && (has_usual_top(token, len) || has_ending(token, len));
}

static int put_paths(struct redactor *r, enum text_role role, const char *text, size_t len, struct buf *ret)
{
	size_t at = 0, end;

	while (at < len) {
		for (end = at; end < len && !ends_path(text[end]); end++)
			;
		/* The scheme of a URL: what follows is no path. */
		if (end + 2 < len && memcmp(text + end, "://", 3) == 0)
			for (end += 3; end < len && !strchr(" \t\n\"'<>", text[end]); end++)
				;
		else if (is_path(r, role, text + at, end - at)) {
			TRY(put_path(r, text + at, end - at, ret));
			at = end;
		}
		end += end < len && at == end ? 1 : 0;
		TRY(buf_append(ret, text + at, end - at));
		at = end;
	}
	return 0;
}

static int put_inlined(struct redactor *r, const char *text, size_t len, struct buf *ret)
{
	size_t field = 0, at = 0, size;
	int rc = 0;

	while (at < len && rc >= 0) {
		for (size = 0; at + size < len && text[at + size] != '\t' && text[at + size] != '\n'; size++)
			;
		rc = field == 1 && size ? put_path(r, text + at, size, ret) : buf_append(ret, text + at, size);
		at += size;
		if (at < len && rc >= 0) {
			field = text[at] == '\n' ? 0 : field + 1;
			rc = buf_append(ret, text + at++, 1);
		}
	}
	return rc;
}

static int put_line(struct redactor *r, struct secret_words *words, const char *text, struct buf *ret)
{
	CLEANUP(buf_release) struct buf plain = BUF_INIT;

	TRY(secret_words_clean(words, text, &plain));
	return put_paths(r, TEXT_LINE, buf_cstr(&plain), plain.len, ret);
}

static int put_clean_words(struct redactor *r, const char *list, struct buf *ret)
{
	CLEANUP(buf_release) struct buf word = BUF_INIT, cleaned = BUF_INIT;
	struct secret_words words = { 0 };

	TRY(buf_puts(ret, "["));
	while ((list = json_next_text(list, &word))) {
		buf_clear(&cleaned);
		TRY(put_line(r, &words, buf_cstr(&word), &cleaned));
		if (ret->data[ret->len - 1] != '[')
			TRY(buf_puts(ret, ","));
		TRY(json_append_text(ret, buf_cstr(&cleaned), cleaned.len));
	}
	return buf_puts(ret, "]");
}

static int put_without_paths(struct redactor *r, enum text_role role, const char *text, size_t len, struct buf *ret)
{
	struct secret_words words = { 0 };

	switch (role) {
	case TEXT_PATH: return put_path(r, text, len, ret);
	case TEXT_INLINED: return put_inlined(r, text, len, ret);
	case TEXT_LINE: return put_line(r, &words, text, ret);
	case TEXT_WORDS: return put_clean_words(r, text, ret);
	case TEXT_HOST: /* which no machine has where it is so long */ return buf_append(ret, text, len <= PRIVATE_MOST ? len : 0);
	default: return put_paths(r, role, text, len, ret);
	}
}

int redactor_text(struct redactor *r, enum text_role role, const char *text, size_t len, struct buf *ret)
{
	CLEANUP(buf_release) struct buf plain = BUF_INIT;

	if (role == TEXT_KEPT)
		return buf_append(ret, text, len);
	TRY(put_without_paths(r, role, text, len, &plain));
	return private_words_replace(&r->words, buf_cstr(&plain), plain.len, ret);
}

static void mask(struct private_words *words, size_t least, char *data, size_t size)
{
	for (size_t at = 0, len; at < size; at += len ? len : 1) {
		const struct private_word *word = private_words_find(words, data + at, size - at);

		len = word && word->len >= least ? word->len : 0;
		memset(data + at, 'x', len);
	}
}

/* The folder part of what looks like a path. Returns how long all of it is. */
static size_t mask_path(char *path, size_t left)
{
	size_t len = 0, last = 0;

	while (len < left && (isalnum((unsigned char)path[len]) || (path[len] && strchr("/._+@~-", path[len])))) {
		last = path[len] == '/' ? len : last;
		len++;
	}
	if (last > 0 && has_usual_top(path, len))
		memset(path, 'x', last);
	return len;
}

void redactor_blob(struct redactor *r, char *data, size_t size)
{
	mask(&r->folders, 0, data, size);
	for (char *at = data; (at = memchr(at, '/', size - (size_t)(at - data))) != NULL && at < data + size;)
		at += mask_path(at, size - (size_t)(at - data));
	mask(&r->words, SHORTEST_MASKED, data, size);
}
