/* Stacks: a list of frames, the innermost first, becomes a node of the report's tree. Python's pickler shares lists and frames, so each is
 * read once. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/macros.h"
#include "ingest/snapshot/internal.h"

static uint64_t intern_row(struct snapshot *s, struct keymap *keys, const void *key, size_t len, int *ret_new)
{
	uint32_t count = keys->count, number = keymap_number(keys, key, len);

	*ret_new = number == count;
	if (number == KEYMAP_NONE) {
		s->sink.result = -ENOMEM;
		return 0;
	}
	return (uint64_t)number + 1;
}

static uint64_t intern_module(struct snapshot *s, uint64_t path)
{
	int64_t v[TABLE_MAX_COLUMNS];
	int is_new;
	uint64_t uid = path ? intern_row(s, &s->module_keys, &path, sizeof(path), &is_new) : 0;

	if (!uid || !is_new)
		return uid;
	v[COLUMN_MODULE_UID] = (int64_t)uid;
	v[COLUMN_MODULE_KIND] = MODULE_SOURCE;
	v[COLUMN_MODULE_PATH] = (int64_t)path;
	sink_row(&s->sink, TABLE_MODULE, v, SINK_BIT(COLUMN_MODULE_UID) | SINK_BIT(COLUMN_MODULE_KIND) | SINK_BIT(COLUMN_MODULE_PATH));
	return uid;
}

static uint64_t intern_symbol(struct snapshot *s, uint64_t module, uint64_t name)
{
	const uint64_t key[] = { module, name };
	uint32_t present = SINK_BIT(COLUMN_SYMBOL_ID) | SINK_BIT(COLUMN_SYMBOL_NAME);
	int64_t v[TABLE_MAX_COLUMNS];
	int is_new;
	uint64_t id = name ? intern_row(s, &s->symbol_keys, key, sizeof(key), &is_new) : 0;

	if (!id || !is_new)
		return id;
	v[COLUMN_SYMBOL_ID] = (int64_t)id;
	v[COLUMN_SYMBOL_NAME] = (int64_t)name;
	snapshot_put(v, &present, COLUMN_SYMBOL_MODULE, module != 0, (int64_t)module);
	sink_row(&s->sink, TABLE_SYMBOL, v, present);
	return id;
}

static void write_frame(struct snapshot *s, uint64_t frame, uint64_t module, int64_t line, uint64_t symbol)
{
	uint32_t present = SINK_BIT(COLUMN_FRAME_ID) | SINK_BIT(COLUMN_FRAME_OFFSET);
	int64_t v[TABLE_MAX_COLUMNS];

	v[COLUMN_FRAME_ID] = (int64_t)frame;
	v[COLUMN_FRAME_OFFSET] = line;
	snapshot_put(v, &present, COLUMN_FRAME_MODULE, module != 0, (int64_t)module);
	sink_row(&s->sink, TABLE_FRAME, v, present);
	present = SINK_BIT(COLUMN_FRAME_SYMBOL_FRAME);
	v[COLUMN_FRAME_SYMBOL_FRAME] = (int64_t)frame;
	snapshot_put(v, &present, COLUMN_FRAME_SYMBOL_SYMBOL, symbol != 0, (int64_t)symbol);
	sink_row(&s->sink, TABLE_FRAME_SYMBOL, v, present);
}

static int has_part(const struct keymap_key *path, const char *part)
{
	return path->len >= strlen(part) && memmem(path->bytes, path->len, part, strlen(part)) != NULL;
}

/* Python code that belongs neither to PyTorch nor to Python itself. */
static int is_own_file(const struct keymap_key *path)
{
	static const char *const others[] = { "/torch/", "/triton/", "/lib/python", "<frozen", "<string>" };

	if (!path || path->len < 3 || memcmp(path->bytes + path->len - 3, ".py", 3) != 0)
		return 0;
	/* Packages of others are part of the program: what they allocate is theirs. */
	if (has_part(path, "/site-packages/") || has_part(path, "/dist-packages/"))
		return !has_part(path, "-packages/torch/") && !has_part(path, "-packages/triton/");
	for (unsigned i = 0; i < COUNT_OF(others); i++)
		if (has_part(path, others[i]))
			return 0;
	return 1;
}

static uint64_t new_frame(struct snapshot *s, const struct members *m)
{
	uint64_t path = snapshot_string(s, m, FIELD_FILENAME), name = snapshot_string(s, m, FIELD_NAME), key[3], frame;
	int64_t line = 0;
	int is_new = 0;

	if (!path && !name)
		return 0;
	if (!snapshot_integer(s, m, FIELD_LINE, &line) || line < 0)
		line = 0;
	key[0] = path;
	key[1] = name;
	key[2] = (uint64_t)line;
	frame = intern_row(s, &s->frame_keys, key, sizeof(key), &is_new);
	if (!frame || !is_new)
		return frame;
	if (!ARRAY_REACH(s->own_frames, s->own_cap, frame)) {
		s->sink.result = -ENOMEM;
		return 0;
	}
	s->own_frames[frame] = (uint8_t)is_own_file(snapshot_text(s, m, FIELD_FILENAME));
	path = intern_module(s, path);
	write_frame(s, frame, path, line, intern_symbol(s, path, name));
	return frame;
}

static int read_frame(struct snapshot *s, uint32_t value, uint64_t *ret)
{
	struct members m;
	int r;

	*ret = idmap_get(&s->frame_values, value);
	if (*ret != IDMAP_NONE)
		return 0;
	r = snapshot_members(s, value, &m);
	if (r < 0)
		return r;
	*ret = r ? new_frame(s, &m) : 0;
	s->odd += !*ret;
	return idmap_put(&s->frame_values, value, *ret);
}

static uint64_t intern_node(struct snapshot *s, uint64_t parent, uint64_t frame, int64_t depth)
{
	const uint64_t key[] = { parent, frame };
	uint32_t present = SINK_BIT(COLUMN_STACK_ID) | SINK_BIT(COLUMN_STACK_FRAME) | SINK_BIT(COLUMN_STACK_DEPTH);
	int64_t v[TABLE_MAX_COLUMNS];
	int is_new;
	uint64_t id = intern_row(s, &s->stack_keys, key, sizeof(key), &is_new);

	if (!id || !is_new)
		return id;
	v[COLUMN_STACK_ID] = (int64_t)id;
	v[COLUMN_STACK_FRAME] = (int64_t)frame;
	v[COLUMN_STACK_DEPTH] = depth;
	snapshot_put(v, &present, COLUMN_STACK_PARENT, parent != 0, (int64_t)parent);
	sink_row(&s->sink, TABLE_STACK, v, present);
	return id;
}

static int read_stack(struct snapshot *s, uint32_t list, struct frames_seen *ret)
{
	struct pickle_items at = pickle_items(&s->pickle, pickle_value(&s->pickle, list));
	uint64_t frames[SNAPSHOT_MOST_FRAMES];
	unsigned count = 0;
	uint32_t value;
	int r;

	*ret = (struct frames_seen){ 0, 0 };
	while ((r = snapshot_next(s, &at, &value)) > 0) {
		if (count == SNAPSHOT_MOST_FRAMES) {
			s->odd++;
			break;
		}
		TRY(read_frame(s, value, &frames[count]));
		if (frames[count] && !ret->own && s->own_frames[frames[count]])
			ret->own = frames[count];
		count += frames[count] != 0;
	}
	TRY(r);
	if (!ret->own && count)
		ret->own = frames[0];
	for (unsigned depth = 0; count > 0; depth++)
		ret->stack = intern_node(s, ret->stack, frames[--count], depth);
	return 0;
}

int snapshot_stack(struct snapshot *s, uint32_t list, struct frames_seen *ret)
{
	uint64_t known = list ? idmap_get(&s->frame_lists, list) : IDMAP_NONE;
	struct frames_seen *place;

	*ret = (struct frames_seen){ 0, 0 };
	if (known != IDMAP_NONE)
		*ret = s->stacks[known];
	if (!list || known != IDMAP_NONE)
		return 0;
	TRY(read_stack(s, list, ret));
	place = ARRAY_ADD(s->stacks, s->stack_count, s->stack_cap);
	if (!place)
		return -ENOMEM;
	*place = *ret;
	return idmap_put(&s->frame_lists, list, s->stack_count - 1);
}

void snapshot_frames_release(struct snapshot *s)
{
	idmap_release(&s->frame_lists);
	idmap_release(&s->frame_values);
	free(s->stacks);
	free(s->own_frames);
	keymap_release(&s->frame_keys);
	keymap_release(&s->module_keys);
	keymap_release(&s->symbol_keys);
	keymap_release(&s->stack_keys);
}
