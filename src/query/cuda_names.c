/* What calls and GPU work refer to: launches, functions, streams, contexts, devices. */
#include "query/cuda_correlate.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int load_table(struct index_table *t, struct query *q, enum table_id table, unsigned width,
		      const uint8_t *columns)
{
	int r = index_load(t, q->report, table, width, columns);

	if (r >= 0)
		index_sort(t);
	return r;
}

static int load_names(struct query *q, struct cuda_names *n)
{
	static const uint8_t launches[] = { COLUMN_CUDA_LAUNCH_ID, COLUMN_CUDA_LAUNCH_FUNCTION,
		COLUMN_CUDA_LAUNCH_GRID_X, COLUMN_CUDA_LAUNCH_GRID_Y, COLUMN_CUDA_LAUNCH_GRID_Z,
		COLUMN_CUDA_LAUNCH_BLOCK_X, COLUMN_CUDA_LAUNCH_BLOCK_Y, COLUMN_CUDA_LAUNCH_BLOCK_Z,
		COLUMN_CUDA_LAUNCH_REGISTERS, COLUMN_CUDA_LAUNCH_STATIC_SHARED, COLUMN_CUDA_LAUNCH_DYNAMIC_SHARED };
	static const uint8_t functions[] = { COLUMN_CUDA_FUNCTION_ID, COLUMN_CUDA_FUNCTION_NAME,
		COLUMN_CUDA_FUNCTION_SHORT_NAME, COLUMN_CUDA_FUNCTION_MANGLED };
	static const uint8_t streams[] = { COLUMN_CUDA_STREAM_UID, COLUMN_CUDA_STREAM_ID, COLUMN_CUDA_STREAM_CONTEXT,
		COLUMN_CUDA_STREAM_DEVICE };
	static const uint8_t contexts[] = { COLUMN_CUDA_CONTEXT_PROCESS, COLUMN_CUDA_CONTEXT_ID,
		COLUMN_CUDA_CONTEXT_PARENT, COLUMN_CUDA_CONTEXT_GREEN };
	static const uint8_t devices[] = { COLUMN_CUDA_DEVICE_PROCESS, COLUMN_CUDA_DEVICE_ID, COLUMN_CUDA_DEVICE_GPU };
	static const uint8_t gpus[] = { COLUMN_GPU_UID, COLUMN_GPU_NAME };
	int r = load_table(&n->launches, q, TABLE_CUDA_LAUNCH, LAUNCH_WIDTH, launches);

	if (r >= 0)
		r = load_table(&n->functions, q, TABLE_CUDA_FUNCTION, FUNCTION_WIDTH, functions);
	if (r >= 0)
		r = load_table(&n->streams, q, TABLE_CUDA_STREAM, STREAM_WIDTH, streams);
	if (r >= 0)
		r = load_table(&n->contexts, q, TABLE_CUDA_CONTEXT, CONTEXT_WIDTH, contexts);
	if (r >= 0)
		r = load_table(&n->devices, q, TABLE_CUDA_DEVICE, DEVICE_WIDTH, devices);
	if (r >= 0)
		r = load_table(&n->gpus, q, TABLE_GPU, GPU_WIDTH, gpus);
	if (r < 0)
		return r;
	n->plain_limit = report_string_limit(q->report);
	n->plain = calloc(n->plain_limit + 1, sizeof(*n->plain));
	return n->plain ? 0 : -ENOMEM;
}

/* cudaLaunchKernel_v7000 without its version, which has four digits; longer ones are part of the name, as in
 * nsys's reports. */
static size_t plain_length(const char *name, size_t len)
{
	const char *v = name + len - 6;

	if (len <= 6 || v[0] != '_' || v[1] != 'v')
		return len;
	for (int i = 2; i < 6; i++)
		if (!isdigit((unsigned char)v[i]))
			return len;
	return len - 6;
}

/* The first id seen whose text is the same but for the version. There are some hundred names. */
static uint32_t plain_id(struct report *report, const uint32_t *seen, size_t count, uint32_t id)
{
	size_t len = 0, other_len = 0;
	const char *text = report_text(report, id, &len), *other;

	if (!text)
		return 0;
	len = plain_length(text, len);
	for (size_t i = 0; i < count; i++) {
		other = report_text(report, seen[i], &other_len);
		if (other && plain_length(other, other_len) == len && memcmp(text, other, len) == 0)
			return seen[i];
	}
	return id;
}

uint32_t cuda_plain_name(struct query *q, struct cuda_names *n, uint32_t id)
{
	uint32_t known, plain;

	if (id >= n->plain_limit)
		return 0;
	known = atomic_load_explicit(&n->plain[id], memory_order_relaxed);
	if (known)
		return known - 1;
	pthread_mutex_lock(&q->loading);
	plain = plain_id(q->report, n->seen, n->seen_count, id);
	if (plain == id && n->seen_count < CUDA_NAMES_MAX)
		n->seen[n->seen_count++] = id;
	atomic_store_explicit(&n->plain[id], plain + 1, memory_order_relaxed);
	pthread_mutex_unlock(&q->loading);
	return plain;
}

int cuda_names_of(struct query *q, struct cuda_names **ret)
{
	struct cuda_names *n;
	int r = 0;

	pthread_mutex_lock(&q->loading);
	if (!q->cuda_names) {
		n = calloc(1, sizeof(*n));
		r = n ? load_names(q, n) : -ENOMEM;
		if (r < 0)
			cuda_names_release(n);
		else
			q->cuda_names = n;
	}
	*ret = q->cuda_names;
	pthread_mutex_unlock(&q->loading);
	return r;
}

void cuda_names_release(struct cuda_names *n)
{
	if (!n)
		return;
	free(n->launches.rows);
	free(n->functions.rows);
	free(n->streams.rows);
	free(n->contexts.rows);
	free(n->devices.rows);
	free(n->gpus.rows);
	free(n->plain);
	free(n);
}

/* Ids count from 1, so that a row is usually at its own place. */
static const int64_t *find_dense(const struct index_table *t, int64_t id)
{
	if (id > 0 && (uint64_t)id <= t->count && t->rows[(size_t)(id - 1) * t->width] == id)
		return t->rows + (size_t)(id - 1) * t->width;
	return index_find(t, id);
}

const int64_t *cuda_launch_find(const struct cuda_names *n, int64_t id)
{
	return find_dense(&n->launches, id);
}

const int64_t *cuda_function_of(const struct cuda_names *n, int64_t launch)
{
	const int64_t *row = cuda_launch_find(n, launch);

	return row ? find_dense(&n->functions, row[LAUNCH_FUNCTION]) : NULL;
}
