/* What single instructions of kernels did, samples over time, and the code that they belong to. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fmt/kernel_wire.h"
#include "record/cuda/internal.h"
#include "record/kernel_choice.h"

#define MOST_IMAGE (64ll << 20)
#define MOST_NAMES (1u << 16)
#define MOST_CODES (1u << 16)

/* A name may be used before it is told of, in another thread's ring. */
static uint64_t find_source_name(struct cuda_decoder *d, uint32_t id)
{
	uint64_t text = idmap_get(&d->c->source_names, id);

	if (text != IDMAP_NONE)
		return text & ~CUDA_UNDEFINED;
	if (d->c->source_names.count >= MOST_NAMES)
		return 0;
	text = report_string_later(d->s->writer);
	return text && idmap_put(&d->c->source_names, id, text | CUDA_UNDEFINED) == 0 ? text : 0;
}

static int take_source_name(struct cuda_decoder *d, uint32_t id, const char *text, size_t size)
{
	uint64_t known = idmap_get(&d->c->source_names, id), string;

	if (known != IDMAP_NONE && !(known & CUDA_UNDEFINED))
		return -EBADMSG;
	if (known != IDMAP_NONE) {
		report_string_define(d->s->writer, known & ~CUDA_UNDEFINED, text, size);
		return idmap_put(&d->c->source_names, id, known & ~CUDA_UNDEFINED);
	}
	if (d->c->source_names.count >= MOST_NAMES)
		return -ENOMEM;
	string = report_string(d->s->writer, text, size);
	return string ? idmap_put(&d->c->source_names, id, string) : -ENOMEM;
}

/* The file that the agent wrote when the module was loaded. 0: there is none, or it is too large. */
static uint64_t store_image(struct cuda_decoder *d, uint64_t crc, int64_t *size)
{
	const struct kernel_choice *choice = d->s->kernels;
	char path[PATH_MAX];
	struct stat status;
	uint64_t blob = 0;
	uint8_t *bytes;
	int fd;

	*size = 0;
	if (!choice || !choice->code ||
	    snprintf(path, sizeof(path), "%s/%llx.cubin", choice->code, (unsigned long long)crc) >= (int)sizeof(path))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return 0;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 && status.st_size <= MOST_IMAGE) {
		*size = status.st_size;
		bytes = malloc((size_t)status.st_size);
		if (bytes && read(fd, bytes, (size_t)status.st_size) == status.st_size)
			blob = report_blob(d->s->writer, bytes, (size_t)status.st_size);
		free(bytes);
	}
	close(fd);
	return blob;
}

/* Its id; 0 when there are too many. */
static uint64_t intern_kernel_code(struct cuda_decoder *d, uint64_t crc)
{
	uint32_t present = BITS_TO(COLUMN_KERNEL_CODE_IMAGE);
	uint64_t id = idmap_get(&d->c->codes, crc);
	int64_t v[TABLE_MAX_COLUMNS] = { 0 };
	struct cuda_session *all = cuda_session(d->s);

	if (id != IDMAP_NONE)
		return id;
	if (!all || d->c->codes.count >= MOST_CODES || idmap_put(&d->c->codes, crc, all->next_code + 1) < 0)
		return 0;
	id = ++all->next_code;
	v[COLUMN_KERNEL_CODE_ID] = (int64_t)id;
	v[COLUMN_KERNEL_CODE_PROCESS] = (int64_t)d->p->uid;
	v[COLUMN_KERNEL_CODE_CRC] = (int64_t)crc;
	v[COLUMN_KERNEL_CODE_IMAGE] = (int64_t)store_image(d, crc, &v[COLUMN_KERNEL_CODE_SIZE]);
	if (!v[COLUMN_KERNEL_CODE_IMAGE])
		present &= ~BIT(COLUMN_KERNEL_CODE_IMAGE);
	session_row(d->s, TABLE_KERNEL_CODE, v, present);
	return id;
}

static int take_counts(struct cuda_decoder *d, uint64_t result, const struct record_kernel_source *head, const uint8_t *body, size_t size)
{
	uint64_t code = intern_kernel_code(d, head->code), function = find_source_name(d, head->id);
	int64_t v[TABLE_MAX_COLUMNS] = { 0 };
	struct kernel_count count;

	if (size % sizeof(count) != 0)
		return -EBADMSG;
	if (!code || !function)
		return -ENOMEM;
	v[COLUMN_KERNEL_SOURCE_RESULT] = (int64_t)result;
	v[COLUMN_KERNEL_SOURCE_CODE] = (int64_t)code;
	v[COLUMN_KERNEL_SOURCE_FUNCTION] = (int64_t)function;
	for (; size; size -= sizeof(count), body += sizeof(count)) {
		memcpy(&count, body, sizeof(count));
		v[COLUMN_KERNEL_SOURCE_PC] = count.pc;
		v[COLUMN_KERNEL_SOURCE_METRIC] = (int64_t)find_source_name(d, count.metric);
		v[COLUMN_KERNEL_SOURCE_VALUE] = (int64_t)count.value;
		session_row(d->s, TABLE_KERNEL_SOURCE, v, BITS_TO(COLUMN_KERNEL_SOURCE_VALUE));
	}
	return 0;
}

static uint32_t put_instruction_number(int64_t *v, double value)
{
	if (value == rint(value) && fabs(value) < 9e15) {
		v[COLUMN_KERNEL_METRIC_INTEGER] = (int64_t)value;
		return BIT(COLUMN_KERNEL_METRIC_INTEGER);
	}
	memcpy(&v[COLUMN_KERNEL_METRIC_REAL], &value, sizeof(value));
	return BIT(COLUMN_KERNEL_METRIC_REAL);
}

static uint32_t begin_metric(int64_t *v, uint64_t result, uint64_t name)
{
	v[COLUMN_KERNEL_METRIC_RESULT] = (int64_t)result;
	v[COLUMN_KERNEL_METRIC_KIND] = KERNEL_METRIC_VALUE;
	v[COLUMN_KERNEL_METRIC_NAME] = (int64_t)name;
	return BIT(COLUMN_KERNEL_METRIC_RESULT) | BIT(COLUMN_KERNEL_METRIC_KIND) | BIT(COLUMN_KERNEL_METRIC_NAME);
}

static int take_series(struct cuda_decoder *d, uint64_t result, uint32_t id, const uint8_t *body, size_t size)
{
	int64_t v[TABLE_MAX_COLUMNS] = { 0 };
	uint32_t present = begin_metric(v, result, find_source_name(d, id));
	struct kernel_sample sample;

	if (size % sizeof(sample) != 0)
		return -EBADMSG;
	for (; size; size -= sizeof(sample), body += sizeof(sample)) {
		memcpy(&sample, body, sizeof(sample));
		if (!isfinite(sample.value) || sample.number > INT64_MAX || sample.offset > INT64_MAX)
			continue;
		v[COLUMN_KERNEL_METRIC_INSTANCE] = (int64_t)sample.number;
		v[COLUMN_KERNEL_METRIC_OFFSET] = (int64_t)sample.offset;
		session_row(d->s, TABLE_KERNEL_METRIC, v,
			    present | put_instruction_number(v, sample.value) | BIT(COLUMN_KERNEL_METRIC_INSTANCE) |
				    BIT(COLUMN_KERNEL_METRIC_OFFSET));
	}
	return 0;
}

static int take_instruction_value(struct cuda_decoder *d, uint64_t result, uint32_t id, const uint8_t *body, size_t size)
{
	int64_t v[TABLE_MAX_COLUMNS] = { 0 };
	uint32_t present = begin_metric(v, result, find_source_name(d, id));
	double value;

	if (size != sizeof(value))
		return -EBADMSG;
	memcpy(&value, body, sizeof(value));
	if (isfinite(value))
		session_row(d->s, TABLE_KERNEL_METRIC, v, present | put_instruction_number(v, value));
	return 0;
}

static int take_trouble(struct cuda_decoder *d, uint64_t result, const char *text, size_t size)
{
	int64_t v[TABLE_MAX_COLUMNS] = { 0 };
	uint32_t present = begin_metric(v, result, session_text(d->s, "profiler__source_error"));

	v[COLUMN_KERNEL_METRIC_TEXT] = (int64_t)report_string(d->s->writer, text, size);
	session_row(d->s, TABLE_KERNEL_METRIC, v, present | BIT(COLUMN_KERNEL_METRIC_TEXT));
	return 0;
}

int cuda_kernel_source(struct session *s, struct traced_process *p, const uint8_t *bytes, uint32_t size)
{
	struct cuda_decoder d = { s, p, cuda_of(p) };
	const uint8_t *body = bytes + sizeof(struct record_kernel_source);
	struct record_kernel_source head;
	uint64_t result;

	if (!d.c)
		return -ENOMEM;
	if (size < sizeof(head))
		return -EBADMSG;
	memcpy(&head, bytes, sizeof(head));
	size -= (uint32_t)sizeof(head);
	if (record_flags(head.head) == KERNEL_SOURCE_NAME)
		return take_source_name(&d, head.id, (const char *)body, size);
	result = cuda_kernel_result(&d, head.number);
	if (!result)
		return -ENOMEM;
	switch (record_flags(head.head)) {
	case KERNEL_SOURCE_COUNTS: return take_counts(&d, result, &head, body, size);
	case KERNEL_SOURCE_SERIES: return take_series(&d, result, head.id, body, size);
	case KERNEL_SOURCE_VALUE: return take_instruction_value(&d, result, head.id, body, size);
	case KERNEL_SOURCE_TROUBLE: return take_trouble(&d, result, (const char *)body, size);
	default: return -EBADMSG;
	}
}
