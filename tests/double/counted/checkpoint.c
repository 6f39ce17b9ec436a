/* libcheckpoint.so: all allocations of the driver, as they were. COUNTED_SLOW_SAVE: us that it takes. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counted.h"
#include "vendor/cupti/checkpoint.h"

#define ROOM 64

static int live;

struct kept {
	size_t count;
	void *addresses[ROOM];
	size_t sizes[ROOM];
	void *copies[ROOM];
};

int cuptiCheckpointSave(struct cupti_checkpoint *handle);
int cuptiCheckpointRestore(struct cupti_checkpoint *handle);
int cuptiCheckpointFree(struct cupti_checkpoint *handle);

COUNTED_FUNCTION(cuptiCheckpointSave, (struct cupti_checkpoint * handle), (handle))
{
	struct kept *k = calloc(1, sizeof(*k));
	int result = counted_fails("cuptiCheckpointSave");

	counted_log("save");
	if (getenv("COUNTED_SLOW_SAVE"))
		usleep((useconds_t)atoi(getenv("COUNTED_SLOW_SAVE")));
	if (result != 0 || !k)
		return result;
	k->count = counted_allocations(k->addresses, k->sizes, ROOM);
	for (size_t i = 0; i < k->count; i++) {
		k->copies[i] = malloc(k->sizes[i]);
		memcpy(k->copies[i], k->addresses[i], k->sizes[i]);
	}
	handle->priv = k;
	live++;
	return 0;
}

/* As the real one does: memory that is there and was not is more than it can bear. */
COUNTED_FUNCTION(cuptiCheckpointRestore, (struct cupti_checkpoint * handle), (handle))
{
	struct kept *k = handle->priv;
	void *addresses[ROOM];
	size_t sizes[ROOM];

	counted_log("restore");
	if (counted_allocations(addresses, sizes, ROOM) != k->count)
		abort();
	for (size_t i = 0; i < k->count; i++)
		memcpy(k->addresses[i], k->copies[i], k->sizes[i]);
	return counted_fails("cuptiCheckpointRestore");
}

COUNTED_FUNCTION(cuptiCheckpointFree, (struct cupti_checkpoint * handle), (handle))
{
	struct kept *k = handle->priv;

	counted_log("forget");
	for (size_t i = 0; k && i < k->count; i++)
		free(k->copies[i]);
	live -= k != NULL;
	free(k);
	handle->priv = NULL;
	return 0;
}

__attribute__((destructor)) static void look_at_end(void)
{
	counted_left("memory", live);
}
