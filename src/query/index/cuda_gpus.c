/* The GPUs of a report: those it lists, and one for each number of a device that work was on but no listed GPU is told to be.
 * Imported reports may list none. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "query/index/cuda_index.h"

/* Devices that no listed GPU is told to be, each with a stream of it. */
enum { UNLISTED_DEVICE, UNLISTED_STREAM, UNLISTED_WIDTH };

struct gpu_loader {
	struct cuda_index *x;
	struct index_table unlisted;
};

static int64_t *find_gpu_stream(const struct cuda_index *x, int64_t uid)
{
	const int64_t *found = index_find(&x->streams, uid);

	return found ? x->streams.rows + (found - x->streams.rows) : NULL;
}

static int take_stream(void *context, const int64_t *values, uint32_t present)
{
	struct gpu_loader *l = context;
	const int64_t *stream = find_gpu_stream(l->x, values[COLUMN_CUDA_STREAM_UID]);
	int64_t *row = l->unlisted.rows + l->unlisted.count * UNLISTED_WIDTH;

	if (!stream || stream[STREAM_GPU] || !(present >> COLUMN_CUDA_STREAM_DEVICE & 1) || l->unlisted.count == l->x->streams.count)
		return 0;
	row[UNLISTED_DEVICE] = values[COLUMN_CUDA_STREAM_DEVICE];
	row[UNLISTED_STREAM] = values[COLUMN_CUDA_STREAM_UID];
	l->unlisted.count++;
	return 0;
}

/* Behind the listed ones, in the order of their devices. They have no name. */
static int add_unlisted(struct index_table *gpus, const struct index_table *unlisted)
{
	int64_t *grown = reallocarray(gpus->rows, gpus->count + unlisted->count + 1, GPU_WIDTH * sizeof(*grown));
	int64_t last = 0, device = 0;
	size_t listed = gpus->count;

	if (!grown)
		return -ENOMEM;
	gpus->rows = grown;
	for (size_t i = 0; i < listed; i++)
		last = grown[i * GPU_WIDTH + GPU_UID] > last ? grown[i * GPU_WIDTH + GPU_UID] : last;
	for (size_t i = 0; i < unlisted->count && last < INT64_MAX; i++) {
		const int64_t *from = unlisted->rows + i * UNLISTED_WIDTH;
		int64_t *row = grown + gpus->count * GPU_WIDTH;

		if (i && from[UNLISTED_DEVICE] == device)
			continue;
		device = from[UNLISTED_DEVICE];
		row[GPU_UID] = ++last;
		row[GPU_NAME] = 0;
		row[GPU_INDEX] = device;
		row[GPU_STREAM] = from[UNLISTED_STREAM];
		gpus->count++;
	}
	return 0;
}

/* They are behind the listed ones, which have no stream, in the order of their devices. */
static const int64_t *find_unlisted(const struct cuda_index *x, int64_t device)
{
	size_t low = 0, high = x->gpus.count, middle;
	const int64_t *row;

	while (low < high) {
		middle = low + (high - low) / 2;
		row = x->gpus.rows + middle * GPU_WIDTH;
		if (!row[GPU_STREAM] || row[GPU_INDEX] < device)
			low = middle + 1;
		else
			high = middle;
	}
	row = x->gpus.rows + low * GPU_WIDTH;
	return low < x->gpus.count && row[GPU_INDEX] == device ? row : NULL;
}

int64_t cuda_device_gpu(const struct cuda_index *x, int64_t process, int64_t device)
{
	int64_t key[] = { process, device };
	const int64_t *row = index_find_last(&x->devices, key, 2), *unlisted;

	if (row && row[DEVICE_GPU])
		return row[DEVICE_GPU];
	unlisted = find_unlisted(x, device);
	return unlisted ? unlisted[GPU_UID] : 0;
}

int cuda_stands_for_gpu(const struct cuda_index *x, int64_t stream)
{
	const int64_t *row = index_find(&x->streams, stream), *gpu = row ? index_find(&x->gpus, row[STREAM_GPU]) : NULL;

	return gpu && gpu[GPU_STREAM] == stream && stream;
}

int cuda_gpus_load(struct cuda_index *x, struct report *report)
{
	/* The last is put in behind. */
	static const uint8_t columns[] = { COLUMN_GPU_UID, COLUMN_GPU_NAME, COLUMN_GPU_INDEX, COLUMN_GPU_UID };
	struct gpu_loader l = { .x = x, .unlisted.width = UNLISTED_WIDTH };
	int r;

	TRY(index_load(&x->gpus, report, TABLE_GPU, GPU_WIDTH, columns));
	for (size_t i = 0; i < x->gpus.count; i++)
		x->gpus.rows[i * GPU_WIDTH + GPU_STREAM] = 0;
	index_sort(&x->gpus);
	l.unlisted.rows = calloc(x->streams.count + 1, UNLISTED_WIDTH * sizeof(*l.unlisted.rows));
	if (!l.unlisted.rows)
		return -ENOMEM;
	r = report_each_row(report, TABLE_CUDA_STREAM, COLUMN_CUDA_STREAM_DEVICE + 1, take_stream, &l) == -ENOMEM ? -ENOMEM : 0;
	if (r >= 0) {
		index_sort(&l.unlisted);
		r = add_unlisted(&x->gpus, &l.unlisted);
	}
	for (size_t i = 0; r >= 0 && i < l.unlisted.count; i++) {
		const int64_t *gpu = find_unlisted(x, l.unlisted.rows[i * UNLISTED_WIDTH + UNLISTED_DEVICE]);
		int64_t *stream = find_gpu_stream(x, l.unlisted.rows[i * UNLISTED_WIDTH + UNLISTED_STREAM]);

		if (gpu && stream)
			stream[STREAM_GPU] = gpu[GPU_UID];
	}
	free(l.unlisted.rows);
	return r;
}
