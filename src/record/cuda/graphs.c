#include "record/cuda/internal.h"

#include <errno.h>
#include <string.h>

#include "record/stacks/call_stack.h"
#include "record/session/address_space.h"

void cuda_node_row(struct cuda_decoder *d)
{
	if (d->c->node_present)
		session_row(d->s, TABLE_CUDA_GRAPH_NODE, d->c->node, d->c->node_present);
	d->c->node_present = 0;
}

/* CUPTI tells of a clone twice: that it was made, then of what. */
static void keep_node(struct cuda_decoder *d, const int64_t *v, uint32_t present)
{
	int64_t *node = d->c->node;

	if (d->c->node_present && present & BIT(COLUMN_CUDA_GRAPH_NODE_ORIGINAL) &&
	    node[COLUMN_CUDA_GRAPH_NODE_NODE] == v[COLUMN_CUDA_GRAPH_NODE_NODE]) {
		node[COLUMN_CUDA_GRAPH_NODE_ORIGINAL] = v[COLUMN_CUDA_GRAPH_NODE_ORIGINAL];
		d->c->node_present |= BIT(COLUMN_CUDA_GRAPH_NODE_ORIGINAL);
		return;
	}
	cuda_node_row(d);
	memcpy(node, v, sizeof(d->c->node));
	d->c->node_present = present;
}

int cuda_define_node(struct cuda_decoder *d, struct traced_thread *t, const struct record_define *define, const uint8_t *body, size_t size,
		     int64_t time)
{
	uint32_t present = BITS_TO(COLUMN_CUDA_GRAPH_NODE_STACK);
	const struct cuda_thread *thread;
	int64_t v[COLUMN_CUDA_GRAPH_NODE_STACK + 1];
	struct cuda_wire_node w;

	if (size < sizeof(w))
		return -EBADMSG;
	memcpy(&w, body, sizeof(w));
	thread = w.tid && w.tid != t->inner_tid ? cuda_thread_at(d, w.tid, time, time) : NULL;
	v[COLUMN_CUDA_GRAPH_NODE_PROCESS] = (int64_t)d->p->uid;
	v[COLUMN_CUDA_GRAPH_NODE_THREAD] = (int64_t)(thread ? thread->uid : t->uid);
	v[COLUMN_CUDA_GRAPH_NODE_TIME] = time;
	v[COLUMN_CUDA_GRAPH_NODE_NODE] = (int64_t)define->id;
	v[COLUMN_CUDA_GRAPH_NODE_ORIGINAL] = (int64_t)w.original;
	v[COLUMN_CUDA_GRAPH_NODE_GRAPH] = w.graph;
	v[COLUMN_CUDA_GRAPH_NODE_TYPE] = w.type;
	v[COLUMN_CUDA_GRAPH_NODE_FUNCTION] = w.function ? (int64_t)cuda_function_id(d, w.function) : 0;
	v[COLUMN_CUDA_GRAPH_NODE_STACK] = w.stack ? (int64_t)call_stack_take(d->s, d->p, t, define->time, STACK_MAX_FRAMES) : 0;
	present &= ~(w.original ? 0 : BIT(COLUMN_CUDA_GRAPH_NODE_ORIGINAL));
	present &= ~(w.type != CUDA_NO_ID ? 0 : BIT(COLUMN_CUDA_GRAPH_NODE_TYPE));
	present &= ~(v[COLUMN_CUDA_GRAPH_NODE_FUNCTION] ? 0 : BIT(COLUMN_CUDA_GRAPH_NODE_FUNCTION));
	present &= ~(v[COLUMN_CUDA_GRAPH_NODE_STACK] ? 0 : BIT(COLUMN_CUDA_GRAPH_NODE_STACK));
	keep_node(d, v, present);
	return 0;
}

void cuda_define_graph(struct cuda_decoder *d, const struct traced_thread *t, const struct record_define *define, int64_t time)
{
	uint32_t present = BITS_TO(COLUMN_CUDA_GRAPH_KIND), exec = (uint32_t)define->extra;
	int64_t v[TABLE_MAX_COLUMNS];

	v[COLUMN_CUDA_GRAPH_PROCESS] = (int64_t)d->p->uid;
	v[COLUMN_CUDA_GRAPH_THREAD] = (int64_t)t->uid;
	v[COLUMN_CUDA_GRAPH_TIME] = time;
	v[COLUMN_CUDA_GRAPH_GRAPH] = (int64_t)define->id;
	v[COLUMN_CUDA_GRAPH_ORIGINAL] = (int64_t)(define->extra >> 32);
	v[COLUMN_CUDA_GRAPH_EXEC] = exec;
	v[COLUMN_CUDA_GRAPH_KIND] = record_level(define->head);
	present &= ~(define->extra >> 32 ? 0 : BIT(COLUMN_CUDA_GRAPH_ORIGINAL));
	present &= ~(exec ? 0 : BIT(COLUMN_CUDA_GRAPH_EXEC));
	session_row(d->s, TABLE_CUDA_GRAPH, v, present);
}
