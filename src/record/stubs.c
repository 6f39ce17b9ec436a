#include "record/space.h"
#include "record/stacks.h"

struct space *space_of(struct session *s, uint64_t process, uint32_t pid)
{
	(void)s, (void)process, (void)pid;
	return 0;
}

void space_fork(struct session *s, uint64_t parent, uint64_t child, uint32_t child_pid)
{
	(void)s, (void)parent, (void)child, (void)child_pid;
}

void space_end(struct session *s, uint64_t process)
{
	(void)s, (void)process;
}

void space_map(struct session *s, struct space *space, const struct space_mapping *mapping)
{
	(void)s, (void)space, (void)mapping;
}

void space_unwind(struct session *s, struct space *space, const struct stack_copy *copy,
		  struct stack_walk *walk)
{
	(void)s, (void)space, (void)copy, (void)walk;
}

uint64_t stacks_intern(struct session *s, struct space *space, const struct stack_walk *walk)
{
	(void)s, (void)space, (void)walk;
	return 0;
}
