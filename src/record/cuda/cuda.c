#include "record/cuda/cuda.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "record/cuda/internal.h"

/* Ticks of the drain that rows wait for the end of their buffer. */
#define TICKS_TO_WAIT 2

struct cuda_process *cuda_of(struct traced_process *p)
{
	if (!p->cuda)
		p->cuda = calloc(1, sizeof(*p->cuda));
	return p->cuda;
}

struct cuda_session *cuda_session(struct session *s)
{
	if (!s->cuda)
		s->cuda = calloc(1, sizeof(*s->cuda));
	return s->cuda;
}

void *cuda_list_find(const struct cuda_list *list, uint64_t key)
{
	uint64_t pointer = idmap_get(&list->index, key);

	return pointer == IDMAP_NONE ? NULL : (void *)(uintptr_t)pointer;
}

void *cuda_list_add(struct cuda_list *list, uint64_t key, size_t size)
{
	void *item;

	if (list->count >= CUDA_MAX_PLACES)
		return NULL;
	if (!ARRAY_ROOM(list->items, list->count, list->cap, 1))
		return NULL;
	item = calloc(1, size);
	if (!item || idmap_put(&list->index, key, (uint64_t)(uintptr_t)item) < 0) {
		free(item);
		return NULL;
	}
	list->items[list->count++] = item;
	return item;
}

static void list_free(struct cuda_list *list)
{
	for (uint32_t i = 0; i < list->count; i++)
		free(list->items[i]);
	free(list->items);
	idmap_release(&list->index);
}

int cuda_record(struct session *s, struct traced_process *p, const uint8_t *bytes, uint32_t size)
{
	struct cuda_decoder d = { s, p, cuda_of(p) };
	int r;

	if (!d.c)
		return -ENOMEM;
	r = cuda_activity(&d, bytes, size);
	if (__builtin_expect(d.c->waiting_rows >= CUDA_WAITING_ROWS, 0))
		cuda_flush(&d, 0);
	return r;
}

int cuda_definition(struct session *s, struct traced_process *p, struct traced_thread *t, const struct record_define *define,
		    const uint8_t *body, size_t size, int64_t time)
{
	struct cuda_decoder d = { s, p, cuda_of(p) };

	if (!d.c)
		return -ENOMEM;
	switch (record_flags(define->head)) {
	case DEFINE_CUDA_CALL: cuda_define_call(&d, define->id, (const char *)body, size); return 0;
	case DEFINE_CUDA_FUNCTION: cuda_define_function(&d, define->id, (const char *)body, size); return 0;
	case DEFINE_CUDA_LAUNCH: return cuda_define_launch(&d, define->id, body, size);
	case DEFINE_CUDA_DEVICE: return cuda_define_device(&d, define->id, body, size);
	case DEFINE_CUDA_CONTEXT: return cuda_define_context(&d, define->id, body, size, define->time ? &time : NULL);
	case DEFINE_CUDA_STREAM: return cuda_define_stream(&d, define->id, body, size, define->time ? &time : NULL);
	case DEFINE_CUDA_MODULE: return cuda_define_module(&d, define->id, body, size, time);
	case DEFINE_CUDA_GRAPH_NODE: return cuda_define_node(&d, t, define, body, size, time);
	case DEFINE_CUDA_GRAPH: cuda_define_graph(&d, t, define, time); return 0;
	case DEFINE_CUDA_CLOCK: return cuda_define_clock(&d, define->id, body, size);
	case DEFINE_CUDA_STACK: cuda_define_stack(&d, t, define->id, define->extra); return 0;
	default: return -EBADMSG;
	}
}

void cuda_tick(struct session *s, struct traced_process *p)
{
	struct cuda_decoder d = { s, p, p->cuda };

	if (p->cuda) {
		cuda_node_row(&d);
		cuda_kernel_watch(&d);
	}
	if (p->cuda && p->cuda->waiting_rows && ++p->cuda->ticks_waited >= TICKS_TO_WAIT)
		cuda_flush(&d, 0);
}

void cuda_provisional(struct session *s, struct traced_process *p)
{
	struct cuda_decoder d = { s, p, p->cuda };

	if (!p->cuda)
		return;
	cuda_places_provisional(&d);
	cuda_threads_provisional(&d);
	cuda_clock_provisional(&d);
}

void cuda_process_end(struct session *s, struct traced_process *p, int64_t end)
{
	struct cuda_decoder d = { s, p, p->cuda };

	if (!p->cuda)
		return;
	cuda_node_row(&d);
	cuda_kernels_end(&d);
	cuda_flush(&d, 1);
	cuda_names_end(&d);
	cuda_places_end(&d);
	cuda_threads_end(&d, end);
	cuda_clock_end(&d);
	session_loss(s, p->uid, 0, LOSS_DAMAGED, p->cuda->unplaced);
	if (p->cuda->unplaced)
		session_diagnose(s, SOURCE_RECORDER, DIAGNOSTIC_WARNING, p->uid,
				 "%llu CUDA records of process %u are not in the report: they have no times, or too many overlap.",
				 (unsigned long long)p->cuda->unplaced, p->info.pid);
}

void cuda_process_free(struct traced_process *p)
{
	struct cuda_process *c = p->cuda;

	idmap_release(&p->thread_uids);
	if (!c)
		return;
	cuda_places_free(c);
	cuda_threads_free(c);
	cuda_clock_free(c);
	cuda_rows_free(c->overhead);
	list_free(&c->contexts);
	list_free(&c->streams);
	list_free(&c->threads);
	list_free(&c->modules);
	idmap_release(&c->functions);
	idmap_release(&c->launches);
	idmap_release(&c->kernels);
	idmap_release(&c->kernels_ended);
	idmap_release(&c->source_names);
	idmap_release(&c->codes);
	free(c->stacks);
	free(c);
	p->cuda = NULL;
}

void cuda_session_release(struct session *s)
{
	if (!s->cuda)
		return;
	idmap_release(&s->cuda->functions);
	idmap_release(&s->cuda->launches);
	free(s->cuda);
	s->cuda = NULL;
}
