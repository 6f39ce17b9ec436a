/* What is mapped in a process, as /proc tells. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/system/monotonic.h"
#include "record/session/session.h"
#include "record/session/address_space_internal.h"

#define READ_AGAIN_NS 250000000ll
#define LINES_LIMIT 300000

/* "55d0-55d1 r-xp 00002000 fd:01 1234   /path": 1 when it is code. */
static int parse_maps_line(char *line, struct space_mapping *ret)
{
	unsigned major_number, minor_number;
	uint64_t end;
	char permissions[5];
	int path = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &ret->address, &end, permissions, &ret->offset,
		   &major_number, &minor_number, &ret->inode, &path) != 7 ||
	    !path || permissions[2] != 'x' || end <= ret->address)
		return 0;
	ret->size = end - ret->address;
	ret->device = makedev(major_number, minor_number);
	ret->path = line + path;
	return 1;
}

int space_read_maps(struct session *s, struct space *space)
{
	int64_t now = monotonic_ns();
	char name[64], *line = NULL;
	size_t room = 0;
	FILE *maps;

	if (!space->pid || (space->maps_read && now - space->maps_read < READ_AGAIN_NS))
		return 0;
	space->maps_read = now;
	snprintf(name, sizeof(name), "/proc/%u/maps", space->pid);
	maps = fopen(name, "re");
	if (!maps)
		return 0;
	for (unsigned i = 0; i < LINES_LIMIT && getline(&line, &room, maps) > 0; i++) {
		struct space_mapping mapping = { .time = s->now };

		if (parse_maps_line(line, &mapping))
			space_map(s, space, &mapping);
	}
	free(line);
	fclose(maps);
	return 1;
}
