/* GPU time by where it was launched: the NVTX ranges and operators that were open on the thread around the call, and the
 * kernel, copy or set at the end. Six bytes per call are in memory, and the tree. */
#ifndef SONDE_EXPORT_STACKS_WORK_STACKS_H
#define SONDE_EXPORT_STACKS_WORK_STACKS_H

#include "base/idmap.h"
#include "export/timeline.h"

struct work_node {
	uint32_t parent; /* below the node itself; 0 = the root, which has no name */
	uint32_t name;
	uint64_t count; /* of work that is this node, without what is below */
	uint64_t ns;
};

struct work_stacks {
	struct timeline *t;
	struct work_node *nodes;
	uint32_t node_count, node_cap;
	struct idmap edges; /* parent and name to node */
	struct idmap names;
	char **texts; /* by number, less 1 */
	uint32_t text_cap;
	struct idmap processes;  /* uid to number */
	uint32_t *process_nodes; /* by number, 0: not made yet */
	uint32_t process_cap;
	struct idmap call_groups; /* process and correlation, without its last bits, to number */
	struct call_group *calls;
	uint32_t call_cap;
	uint32_t *tracks; /* numbers of rows, by thread */
};

int work_stacks_load(struct work_stacks *w, struct timeline *t, struct error *err);
void work_stacks_release(struct work_stacks *w);

/* What a process or thread is called, and where that is asked for its number behind: "name-number". Equal ids have equal texts. */
uint64_t place_text(const struct timeline *t, bool is_thread, int64_t uid, char *text, size_t size);
/* The number of a name, kept with its text. 0: no memory. */
uint32_t work_name(struct work_stacks *w, uint64_t id, const char *text, size_t len);

#endif
