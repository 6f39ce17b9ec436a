/* Conversions of CUDA and GPU rows: what they refer to is in memory, CUPTI's numbers become nsys's. */
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "fmt/gpu_enums.h"
#include "query/engine/scan.h"
#include "query/index/stack_tree.h"
#include "query/index/times.h"

int scan_cuda_constant(const struct scan *s, const struct mapped_cell *cell, int64_t *ret)
{
	const struct cuda_index *x = s->q->index.cuda;
	const int64_t *t = s->track, *row = NULL;

	switch ((enum convert)cell->convert) {
	case CONVERT_TRACK_OBJECT: *ret = time_sum(t[TRACK_DOMAIN], cell->constant); return t[TRACK_DOMAIN] != 0;
	case CONVERT_TRACK_PID: *ret = index_global_pid(&s->q->index, t[TRACK_PROCESS]); return t[TRACK_PROCESS] != 0;
	case CONVERT_TRACK_STREAM:
		row = index_find(&x->streams, t[TRACK_DOMAIN]);
		*ret = row && row[cell->other] ? row[cell->other] : cell->constant;
		return 1;
	case CONVERT_TRACK_CONTEXT: row = index_find(&x->contexts, t[TRACK_DOMAIN]); break;
	case CONVERT_TRACK_METRIC: row = index_find(&x->metrics, t[TRACK_ID]); break;
	default: break;
	}
	*ret = row ? row[cell->other] : 0;
	return row != NULL;
}

static void launch_rows(const struct scan *s, const struct mapped_cell *cell, struct scan_vector *v)
{
	const struct scan_column *ids = &s->raw[cell->column];
	const struct cuda_index *x = s->q->index.cuda;
	const int64_t *launch;

	for (uint32_t i = 0; i < s->rows; i++) {
		launch = cuda_launch(x, ids->values[i]);
		v->values[i] = launch ? time_sum(launch[cell->other], cell->constant) : 0;
		v->nulls[i] = !launch || !((uint64_t)launch[LAUNCH_PRESENT] >> cell->other & 1);
	}
}

static void api_names(const struct scan *s, const struct mapped_cell *cell, struct scan_vector *v)
{
	const struct scan_column *names = &s->raw[cell->column];
	const struct index_table *clean = &s->q->index.cuda->api_names;
	int64_t last = 0, shown = 0;
	const int64_t *row;

	for (uint32_t i = 0; i < s->rows; i++) {
		if (names->values[i] != last) {
			last = names->values[i];
			row = index_find(clean, last);
			shown = row ? row[API_CLEAN_NAME] : last;
		}
		v->values[i] = shown;
		v->nulls[i] = names->nulls[i];
	}
}

/* nsys does not know of kinds of other makers. */
static int64_t memory_kind(int64_t cupti)
{
	int64_t nsys = gpu_memory_kind(cupti)->nsys;

	return nsys >= 0 ? nsys : gpu_memory_kind(GPU_MEMORY_UNKNOWN)->nsys;
}

/* nsys's begin with "undefined"; those of newer CUPTIs are that, too. */
static int64_t overhead_kind(int64_t cupti)
{
	int64_t number = gpu_overhead_number(cupti);

	return number <= 7 ? number + 1 : 0;
}

static int64_t overhead_name(int64_t cupti, const struct scan_column *name, uint32_t row)
{
	int64_t number = gpu_overhead_number(cupti);

	if (name->values[row])
		return name->values[row];
	return STRING_ID_MADE + LABEL_OVERHEAD_UNKNOWN + (number < 0 ? 0 : number);
}

static int64_t node_name(const struct cuda_index *x, int64_t function, const struct scan_column *type, uint32_t row)
{
	const int64_t *known = index_find(&x->functions, function);

	if (known && known[FUNCTION_NAME])
		return known[FUNCTION_NAME];
	if (type->nulls[row] || type->values[row] < 0 || type->values[row] > LABEL_NODE_LAST - LABEL_NODE_KERNEL)
		return STRING_ID_MADE + LABEL_NODE_OTHER;
	return STRING_ID_MADE + LABEL_NODE_KERNEL + type->values[row];
}

static int64_t round_real_bits(int64_t bits)
{
	double real;

	memcpy(&real, &bits, sizeof(real));
	return fabs(real) < 9e18 ? llround(real) : 0;
}

static int64_t double_to_bits(double value)
{
	int64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static int64_t frame_string(struct query *q, const struct mapped_cell *cell, int64_t frame, int64_t address)
{
	const struct stack_tree *tree = q->stacks;
	const int64_t *found;

	if (tree && frame > 0 && frame < tree->frame_count)
		return cell->convert == CONVERT_FRAME_NAME ? code_frame_string(tree, (uint32_t)frame) :
							     code_frame_module_string(tree, (uint32_t)frame);
	found = cell->convert == CONVERT_FRAME_NAME ? index_find(&q->index.cuda->addresses, address) : NULL;
	return found ? found[ADDRESS_STRING] : STRING_ID_FRAME;
}

static int other_row(struct scan *s, const struct mapped_cell *cell, uint32_t row, int64_t *ret)
{
	const struct query_index *index = &s->q->index;
	const struct scan_column *column = &s->raw[cell->column], *other = &s->raw[cell->other];
	int64_t value = column->values[row];
	const int64_t *found;

	switch ((enum convert)cell->convert) {
	case CONVERT_STREAM:
		found = index_find(&index->cuda->streams, value);
		*ret = found ? found[cell->other] : 0;
		return 1;
	case CONVERT_STREAM_PID:
		found = index_find(&index->cuda->streams, value);
		*ret = found ? index_global_pid(index, found[STREAM_PROCESS]) : 0;
		return found != NULL;
	case CONVERT_MEMORY_KIND: *ret = memory_kind(value); return !column->nulls[row];
	case CONVERT_OVERHEAD_KIND: *ret = overhead_kind(value); return 1;
	case CONVERT_OVERHEAD_NAME: *ret = overhead_name(value, other, row); return 1;
	case CONVERT_NODE_NAME: *ret = node_name(index->cuda, value, other, row); return 1;
	case CONVERT_ROUNDED:
		*ret = column->nulls[row] ? round_real_bits(other->values[row]) : value;
		return !column->nulls[row] || !other->nulls[row];
	case CONVERT_AS_REAL:
		*ret = other->nulls[row] ? double_to_bits((double)value) : other->values[row];
		return !column->nulls[row] || !other->nulls[row];
	case CONVERT_PID: *ret = index_global_id(index, value); return value != 0;
	case CONVERT_FRAME_NAME:
	case CONVERT_FRAME_MODULE: *ret = frame_string(s->q, cell, value, other->values[row]); return 1;
	default: return 0;
	}
}

static int load_companions(struct scan *s, const struct mapped_cell *cell)
{
	struct scan_column *ignored;

	switch ((enum convert)cell->convert) {
	case CONVERT_NODE_NAME:
	case CONVERT_OVERHEAD_NAME:
	case CONVERT_ROUNDED:
	case CONVERT_AS_REAL:
	case CONVERT_FRAME_NAME:
	case CONVERT_FRAME_MODULE: return scan_raw(s, cell->other, &ignored);
	default: return 0;
	}
}

int scan_cuda_rows(struct scan *s, const struct mapped_cell *cell, struct scan_vector *v)
{
	TRY(load_companions(s, cell));
	if (cell->convert == CONVERT_LAUNCH || cell->convert == CONVERT_LAUNCH_TEXT) {
		launch_rows(s, cell, v);
	} else if (cell->convert == CONVERT_API_TEXT) {
		api_names(s, cell, v);
	} else {
		for (uint32_t i = 0; i < s->rows; i++)
			v->nulls[i] = !other_row(s, cell, i, &v->values[i]);
	}
	return 0;
}
