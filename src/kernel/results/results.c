#include "kernel/results/results.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/idmap.h"
#include "base/keymap.h"
#include "base/text/ending.h"
#include "kernel/results/launch_origins.h"
#include "kernel/results/report_rows.h"
#include "symbol/demangle.h"

/* Facts of devices are kept with each kernel: some hundreds, and of more kernels than anybody reads. */
#define MOST_OF_DEVICES (8u << 20)

struct function {
	const char *name, *written; /* NULL: not asked for yet */
	const char *short_name, *mangled;
};

struct loader {
	struct kernel_results *results;
	struct report *report;
	struct idmap function_places; /* by id */
	struct function *functions;
	size_t function_count;
	size_t of_devices;
};

static int take_process(void *context, const int64_t *v, uint32_t present)
{
	struct loader *l = context;
	struct kernel_results *r = l->results;

	if (!LIST_ROOM(r->processes, r->process_count))
		return -ENOMEM;
	r->processes[r->process_count++] = (struct kernel_process){ v[COLUMN_PROCESS_UID],
								    HAS(present, COLUMN_PROCESS_PID) ? v[COLUMN_PROCESS_PID] : 0,
								    row_text(l->report, v, present, COLUMN_PROCESS_NAME) };
	return 0;
}

static int take_device(void *context, const int64_t *v, uint32_t present)
{
	struct kernel_results *r = ((struct loader *)context)->results;

	if (!LIST_ROOM(r->devices, r->device_count))
		return -ENOMEM;
	r->devices[r->device_count++] = (struct kernel_device){ .process = v[COLUMN_CUDA_DEVICE_PROCESS],
								.id = v[COLUMN_CUDA_DEVICE_ID],
								.gpu = v[COLUMN_CUDA_DEVICE_GPU],
								.name = "",
								.chip = "",
								.sm_count = HAS(present, COLUMN_CUDA_DEVICE_SM_COUNT) ?
										    v[COLUMN_CUDA_DEVICE_SM_COUNT] :
										    0 };
	return 0;
}

static int take_gpu(void *context, const int64_t *v, uint32_t present)
{
	struct loader *l = context;
	struct kernel_device *d = l->results->devices;

	for (size_t i = 0; i < l->results->device_count; i++, d++) {
		if (d->gpu != v[COLUMN_GPU_UID])
			continue;
		d->name = row_text(l->report, v, present, COLUMN_GPU_NAME);
		d->chip = row_text(l->report, v, present, COLUMN_GPU_CHIP);
		d->memory = HAS(present, COLUMN_GPU_MEMORY) ? v[COLUMN_GPU_MEMORY] : 0;
		if (!d->sm_count && HAS(present, COLUMN_GPU_SM_COUNT))
			d->sm_count = v[COLUMN_GPU_SM_COUNT];
		if (HAS(present, COLUMN_GPU_MAJOR) && v[COLUMN_GPU_MAJOR] > 0) {
			d->major = (unsigned)v[COLUMN_GPU_MAJOR];
			d->minor = (unsigned)v[COLUMN_GPU_MINOR];
		}
	}
	return 0;
}

static int load_devices(struct loader *l)
{
	TRY(report_each_row(l->report, TABLE_CUDA_DEVICE, COLUMN_CUDA_DEVICE_SM_COUNT + 1, take_device, l));
	return report_each_row(l->report, TABLE_GPU, COLUMN_GPU_MINOR + 1, take_gpu, l);
}

static const struct kernel_device *find_kernel_device(const struct kernel_results *r, int64_t process, int64_t id)
{
	for (size_t i = 0; i < r->device_count; i++)
		if (r->devices[i].process == process && r->devices[i].id == id)
			return &r->devices[i];
	return NULL;
}

static const struct kernel_process *find_kernel_process(const struct kernel_results *r, int64_t uid)
{
	for (size_t i = 0; i < r->process_count; i++)
		if (r->processes[i].uid == uid)
			return &r->processes[i];
	return NULL;
}

static int64_t id_of(const int64_t *v, uint32_t present, unsigned column)
{
	return HAS(present, column) ? v[column] : -1;
}

static void put_result_location(const struct loader *l, struct kernel_result *k, const int64_t *v, uint32_t present)
{
	k->context = id_of(v, present, COLUMN_KERNEL_RESULT_CONTEXT);
	k->stream = id_of(v, present, COLUMN_KERNEL_RESULT_STREAM);
	k->device = id_of(v, present, COLUMN_KERNEL_RESULT_DEVICE);
	if (HAS(present, COLUMN_KERNEL_RESULT_PROCESS)) {
		k->process = find_kernel_process(l->results, v[COLUMN_KERNEL_RESULT_PROCESS]);
		k->facts = find_kernel_device(l->results, v[COLUMN_KERNEL_RESULT_PROCESS], k->device);
	}
	for (unsigned i = 0; i < 3; i++) {
		k->grid[i] = (uint32_t)v[COLUMN_KERNEL_RESULT_GRID_X + i];
		k->block[i] = (uint32_t)v[COLUMN_KERNEL_RESULT_BLOCK_X + i];
	}
	if (HAS(present, COLUMN_KERNEL_RESULT_MAJOR)) {
		k->major = (unsigned)v[COLUMN_KERNEL_RESULT_MAJOR];
		k->minor = (unsigned)v[COLUMN_KERNEL_RESULT_MINOR];
	} else if (k->facts) {
		k->major = k->facts->major;
		k->minor = k->facts->minor;
	}
}

static int take_result(void *context, const int64_t *v, uint32_t present)
{
	struct loader *l = context;
	struct kernel_results *r = l->results;
	struct kernel_result *k;

	if (!LIST_ROOM(r->items, r->count))
		return -ENOMEM;
	k = &r->items[r->count++];
	*k = (struct kernel_result){ .id = v[COLUMN_KERNEL_RESULT_ID], .number = v[COLUMN_KERNEL_RESULT_NUMBER] };
	k->host = row_text(l->report, v, present, COLUMN_KERNEL_RESULT_HOST);
	if (!*k->host)
		k->host = "127.0.0.1";
	k->name = row_text(l->report, v, present, COLUMN_KERNEL_RESULT_NAME);
	k->mangled = k->function = k->verdict = "";
	put_result_location(l, k, v, present);
	k->function_id = HAS(present, COLUMN_KERNEL_RESULT_FUNCTION) ? v[COLUMN_KERNEL_RESULT_FUNCTION] : 0;
	return 0;
}

const char *results_keep(struct kernel_results *r, const char *text)
{
	if (!LIST_ROOM(r->names, r->name_count))
		return NULL;
	r->names[r->name_count] = strdup(text);
	return r->names[r->name_count] ? r->names[r->name_count++] : NULL;
}

/* As ncu writes it; else as the report has it. */
static const char *written_name(struct kernel_results *r, const char *mangled, const char *otherwise)
{
	char *name = demangle_cuda(mangled);
	const char *kept = name ? results_keep(r, name) : NULL;

	free(name);
	return kept ? kept : otherwise;
}

static int take_result_function(void *context, const int64_t *v, uint32_t present)
{
	struct loader *l = context;
	uint64_t id = (uint64_t)v[COLUMN_CUDA_FUNCTION_ID];

	if (idmap_get(&l->function_places, id) != IDMAP_NONE)
		return 0;
	if (!LIST_ROOM(l->functions, l->function_count) || idmap_put(&l->function_places, id, l->function_count) < 0)
		return -ENOMEM;
	l->functions[l->function_count++] = (struct function){ .name = row_text(l->report, v, present, COLUMN_CUDA_FUNCTION_NAME),
							       .short_name = row_text(l->report, v, present,
										      COLUMN_CUDA_FUNCTION_SHORT_NAME),
							       .mangled = row_text(l->report, v, present, COLUMN_CUDA_FUNCTION_MANGLED) };
	return 0;
}

static void find_functions(struct loader *l)
{
	for (size_t i = 0; i < l->results->count; i++) {
		struct kernel_result *k = &l->results->items[i];
		uint64_t place = idmap_get(&l->function_places, (uint64_t)k->function_id);
		struct function *f = place == IDMAP_NONE ? NULL : &l->functions[place];

		if (!f)
			continue;
		if (!f->written)
			f->written = written_name(l->results, f->mangled, f->name);
		k->name = f->written;
		k->function = f->short_name;
		k->mangled = f->mangled;
	}
}

/* "void ns::f<int>(int)" -> "f": for tables that only have the whole name. */
static char *function_name(const char *name)
{
	const char *end = name + strlen(name), *start, *at;
	int depth = 0;

	for (at = name; *at; at++) {
		if (*at == '(' && depth == 0 && strncmp(at, "(anonymous", 10) != 0) {
			end = at;
			break;
		}
		depth += *at == '<' ? 1 : *at == '>' ? -1 : 0;
	}
	depth = 0;
	for (start = end; start > name; start--) {
		if (start[-1] == '>' && depth++ == 0)
			end = start;
		else if (start[-1] == '<' && --depth == 0)
			end = start - 1;
		else if (depth == 0 && (start[-1] == ':' || start[-1] == ' '))
			break;
	}
	return strndup(start, (size_t)(end - start));
}

/* One for all of the same name. */
static int name_functions(struct kernel_results *r)
{
	struct keymap names = { 0 };
	const char **functions = calloc(r->count + 1, sizeof(*functions));
	int result = functions ? 0 : -ENOMEM;

	for (size_t i = 0; i < r->count && result >= 0; i++) {
		struct kernel_result *k = &r->items[i];
		uint32_t number = *k->function ? 0 : keymap_number(&names, k->name, strlen(k->name));
		char *name;

		if (*k->function)
			continue;
		if (number != KEYMAP_NONE && !functions[number]) {
			name = function_name(k->name);
			functions[number] = name ? results_keep(r, name) : NULL;
			free(name);
		}
		if (number == KEYMAP_NONE || !functions[number])
			result = -ENOMEM;
		else
			k->function = functions[number];
	}
	keymap_release(&names);
	free(functions);
	return result;
}

static struct kernel_result *result_of(struct kernel_results *r, int64_t id)
{
	size_t low = 0, high = r->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (r->items[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < r->count && r->items[low].id == id ? &r->items[low] : NULL;
}

static struct metric_value read_metric_value(const struct loader *l, const int64_t *v, uint32_t present)
{
	struct metric_value value = { .name = row_text(l->report, v, present, COLUMN_KERNEL_METRIC_NAME),
				      .unit = row_text(l->report, v, present, COLUMN_KERNEL_METRIC_UNIT) };

	if (HAS(present, COLUMN_KERNEL_METRIC_INTEGER)) {
		value.kind = VALUE_INTEGER;
		value.integer = v[COLUMN_KERNEL_METRIC_INTEGER];
	} else if (HAS(present, COLUMN_KERNEL_METRIC_REAL)) {
		value.kind = VALUE_REAL;
		memcpy(&value.real, &v[COLUMN_KERNEL_METRIC_REAL], sizeof(value.real));
	} else if (HAS(present, COLUMN_KERNEL_METRIC_TEXT)) {
		value.kind = VALUE_TEXT;
		value.text = row_text(l->report, v, present, COLUMN_KERNEL_METRIC_TEXT);
	}
	return value;
}

int result_add_rule(struct kernel_result *k, struct kernel_rule rule)
{
	if (!LIST_ROOM(k->rules, k->rule_count))
		return -ENOMEM;
	k->rules[k->rule_count++] = rule;
	return 0;
}

static int add_rule(const struct loader *l, struct kernel_result *k, const int64_t *v, uint32_t present)
{
	/* clang-format off */
	struct kernel_rule rule = { row_text(l->report, v, present, COLUMN_KERNEL_METRIC_SECTION), row_text(l->report, v, present, COLUMN_KERNEL_METRIC_NAME),
				    row_text(l->report, v, present, COLUMN_KERNEL_METRIC_LABEL), row_text(l->report, v, present, COLUMN_KERNEL_METRIC_TEXT),
				    row_text(l->report, v, present, COLUMN_KERNEL_METRIC_UNIT), NAN, NULL };
	/* clang-format on */

	if (HAS(present, COLUMN_KERNEL_METRIC_REAL))
		memcpy(&rule.gain, &v[COLUMN_KERNEL_METRIC_REAL], sizeof(rule.gain));
	return result_add_rule(k, rule);
}

static int add_section_value(const struct loader *l, struct kernel_result *k, const int64_t *v, uint32_t present)
{
	if (!LIST_ROOM(k->rows, k->row_count))
		return -ENOMEM;
	k->rows[k->row_count++] = (struct section_value){ row_text(l->report, v, present, COLUMN_KERNEL_METRIC_SECTION),
							  read_metric_value(l, v, present) };
	return 0;
}

static int add_instance(const struct loader *l, struct kernel_result *k, const int64_t *v, uint32_t present)
{
	if (!LIST_ROOM(k->instances, k->instance_count))
		return -ENOMEM;
	k->instances[k->instance_count++] = (struct metric_instance){
		row_text(l->report, v, present, COLUMN_KERNEL_METRIC_NAME), v[COLUMN_KERNEL_METRIC_INSTANCE],
		row_text(l->report, v, present, COLUMN_KERNEL_METRIC_LABEL),
		HAS(present, COLUMN_KERNEL_METRIC_OFFSET) ? v[COLUMN_KERNEL_METRIC_OFFSET] : -1, read_metric_value(l, v, present)
	};
	return 0;
}

/* One kernel has it, and it holds for all of the process on that device. */
static int add_of_device(struct loader *l, const struct kernel_result *first, const int64_t *v, uint32_t present)
{
	bool is_instance = HAS(present, COLUMN_KERNEL_METRIC_INSTANCE);
	int r = 0;

	for (size_t i = 0; i < l->results->count && r >= 0; i++) {
		struct kernel_result *k = &l->results->items[i];

		if (k->process != first->process || k->device != first->device)
			continue;
		if (++l->of_devices > MOST_OF_DEVICES)
			return -ENOMEM;
		r = is_instance ? add_instance(l, k, v, present) : result_add(k, read_metric_value(l, v, present));
	}
	return r;
}

static int take_result_metric(void *context, const int64_t *v, uint32_t present)
{
	struct loader *l = context;
	struct kernel_result *k = result_of(l->results, v[COLUMN_KERNEL_METRIC_RESULT]);

	if (!k)
		return 0;
	if (v[COLUMN_KERNEL_METRIC_KIND] == KERNEL_METRIC_RULE)
		return add_rule(l, k, v, present);
	if (v[COLUMN_KERNEL_METRIC_KIND] == KERNEL_METRIC_DEVICE)
		return add_of_device(l, k, v, present);
	if (v[COLUMN_KERNEL_METRIC_KIND] != KERNEL_METRIC_VALUE)
		return result_take_place(l->report, k, v, present);
	if (HAS(present, COLUMN_KERNEL_METRIC_INSTANCE))
		return add_instance(l, k, v, present);
	if (HAS(present, COLUMN_KERNEL_METRIC_SECTION))
		return add_section_value(l, k, v, present);
	return result_add(k, read_metric_value(l, v, present));
}

static int by_id(const void *a, const void *b)
{
	const struct kernel_result *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static int compare_metric_values(const void *a, const void *b)
{
	return strcmp(((const struct metric_value *)a)->name, ((const struct metric_value *)b)->name);
}

static int by_instance(const void *a, const void *b)
{
	const struct metric_instance *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : (x->number > y->number) - (x->number < y->number);
}

void result_sort(struct kernel_result *k)
{
	if (k->value_count)
		qsort(k->values, k->value_count, sizeof(*k->values), compare_metric_values);
}

/* Where nothing tells of the device, the driver's attributes of it do. */
static void find_capability(struct kernel_result *k)
{
	const struct metric_value *major = result_find(k, "device__attribute_compute_capability_major"),
				  *minor = result_find(k, "device__attribute_compute_capability_minor");

	if (k->major || !major || !minor || major->kind != VALUE_INTEGER || minor->kind != VALUE_INTEGER || major->integer <= 0)
		return;
	k->major = (unsigned)major->integer;
	k->minor = (unsigned)minor->integer;
}

static int load_result_tables(struct loader *l)
{
	struct kernel_results *r = l->results;

	TRY(report_each_row(l->report, TABLE_PROCESS, COLUMN_PROCESS_NAME + 1, take_process, l));
	TRY(load_devices(l));
	TRY(report_each_row(l->report, TABLE_KERNEL_RESULT, COLUMN_KERNEL_RESULT_CORRELATION + 1, take_result, l));
	TRY(report_each_row(l->report, TABLE_CUDA_FUNCTION, COLUMN_CUDA_FUNCTION_MANGLED + 1, take_result_function, l));
	find_functions(l);
	TRY(name_functions(r));
	if (r->count)
		qsort(r->items, r->count, sizeof(*r->items), by_id);
	TRY(report_each_row(l->report, TABLE_KERNEL_METRIC, COLUMN_KERNEL_METRIC_OFFSET + 1, take_result_metric, l));
	for (size_t i = 0; i < r->count; i++) {
		result_sort(&r->items[i]);
		find_capability(&r->items[i]);
		if (r->items[i].instance_count)
			qsort(r->items[i].instances, r->items[i].instance_count, sizeof(*r->items[i].instances), by_instance);
	}
	return results_finish_places(r);
}

int kernel_results_load(struct kernel_results *ret, struct report *report, struct error *err)
{
	struct loader l = { .results = ret, .report = report };
	int r;

	*ret = (struct kernel_results){ .report = report, .is_imported = report_meta(report, "imported") != NULL };
	r = load_result_tables(&l);
	idmap_release(&l.function_places);
	free(l.functions);
	if (r < 0) {
		kernel_results_release(ret);
		return error_set_errno(err, -r, "The kernels of the report cannot be read");
	}
	return 0;
}

static void release_result(struct kernel_result *k)
{
	free(k->values);
	free(k->rows);
	free(k->instances);
	free(k->rules);
	result_release_place(k);
}

void kernel_results_keep(struct kernel_results *r, size_t count)
{
	for (size_t i = count; i < r->count; i++)
		release_result(&r->items[i]);
	r->count = count;
}

void kernel_results_release(struct kernel_results *r)
{
	kernel_results_keep(r, 0);
	for (size_t i = 0; i < r->name_count; i++)
		free(r->names[i]);
	free(r->names);
	free(r->items);
	free(r->processes);
	free(r->devices);
	*r = (struct kernel_results){ 0 };
}

int result_add(struct kernel_result *k, struct metric_value value)
{
	if (!ARRAY_ROOM(k->values, k->value_count, k->value_capacity, 1))
		return -ENOMEM;
	k->values[k->value_count++] = value;
	return 0;
}

const struct metric_value *result_find(const struct kernel_result *k, const char *name)
{
	struct metric_value key = { .name = name };

	return k->value_count ? bsearch(&key, k->values, k->value_count, sizeof(*k->values), compare_metric_values) : NULL;
}

double value_number(const struct metric_value *v)
{
	if (!v || (v->kind != VALUE_INTEGER && v->kind != VALUE_REAL))
		return NAN;
	return v->kind == VALUE_INTEGER ? (double)v->integer : v->real;
}

double result_number(const struct kernel_result *k, const char *name)
{
	return value_number(result_find(k, name));
}

double result_gain(const struct kernel_result *k)
{
	double most = NAN;

	for (size_t i = 0; i < k->rule_count; i++)
		if (strcmp(k->rules[i].gain_type, "global") == 0)
			most = fmax(most, k->rules[i].gain);
	return most;
}

bool results_are_first_of_device(const struct kernel_results *results, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (results->items[i].device == results->items[at].device && results->items[i].process == results->items[at].process)
			return false;
	return true;
}

bool is_warm(const char *name)
{
	return text_has_ending(name, WARM_SUFFIX);
}

bool results_have_warm(const struct kernel_results *results)
{
	for (size_t i = 0; i < results->count; i++)
		for (size_t j = 0; j < results->items[i].value_count; j++)
			if (is_warm(results->items[i].values[j].name))
				return true;
	return false;
}

double result_warm(const struct kernel_result *k, const char *name)
{
	char warm[512];

	if ((size_t)snprintf(warm, sizeof(warm), "%s" WARM_SUFFIX, name) >= sizeof(warm))
		return NAN;
	return result_number(k, warm);
}

const struct metric_instance *result_instances(const struct kernel_result *k, const char *name, size_t *ret_count)
{
	size_t first = 0, end;

	while (first < k->instance_count && strcmp(k->instances[first].name, name) != 0)
		first++;
	for (end = first; end < k->instance_count && strcmp(k->instances[end].name, name) == 0; end++)
		;
	*ret_count = end - first;
	return end > first ? &k->instances[first] : NULL;
}
