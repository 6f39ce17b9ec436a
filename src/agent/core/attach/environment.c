/* NVTX, in each library that uses it, and the CUDA driver look into the environment when they are first used. Others read it at any
 * moment, without a lock: so nothing that is there is changed but one pointer at a time. The list gets a copy with room for our
 * entries; they go again when the recording ends. The copy stays: the program may have changed something in it. */
#include <string.h>
#include <unistd.h>

#include "agent/core/attach.h"
#include "agent/core/state.h"

#define VARIABLES 2

static const char *const names[VARIABLES] = { "NVTX_INJECTION64_PATH=", "CUDA_INJECTION64_PATH=" };

static struct {
	char **list;              /* our copy, once there is one */
	char *entries[VARIABLES]; /* in use, or hidden by another first letter */
} environment;

static size_t count_variables(char *const *list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

static int is_set(char *const *list, const char *name)
{
	for (size_t i = 0; list && list[i]; i++)
		if (strncmp(list[i], name, strlen(name)) == 0)
			return 1;
	return 0;
}

static int has_environment_entry(char *const *list, const char *entry)
{
	for (size_t i = 0; list && list[i]; i++)
		if (list[i] == entry)
			return 1;
	return 0;
}

/* The text of an entry is never freed: somebody may have it in hand. */
static char *make_entry(unsigned which, const char *path)
{
	size_t name = strlen(names[which]), length = strlen(path);
	char *entry = environment.entries[which];

	if (!entry || strcmp(entry + name, path) != 0) {
		entry = agent_permanent(name + length + 1);
		if (!entry)
			return NULL;
		memcpy(entry + name, path, length + 1);
	}
	memcpy(entry, names[which], name);
	environment.entries[which] = entry;
	return entry;
}

/* A list with room for our entries: the one that is there, if it is still ours. */
static char **list_with_room(void)
{
	size_t n = count_variables(environ);
	char **list;

	if (environ && environ == environment.list)
		return environ;
	list = agent_permanent((n + VARIABLES + 1) * sizeof(*list));
	for (size_t i = 0; list && i < n; i++)
		list[i] = environ[i];
	return list;
}

static void publish(char **list)
{
	environment.list = list;
	__atomic_store_n(&environ, list, __ATOMIC_RELEASE);
}

/* One that the program has set for another tool stays. */
static void add_injection_entry(unsigned which, const char *path)
{
	char **list, *entry;
	size_t n;

	if (!*path || is_set(environ, names[which]))
		return;
	list = list_with_room();
	entry = list ? make_entry(which, path) : NULL;
	if (!entry)
		return;
	n = count_variables(list);
	if (!has_environment_entry(list, entry))
		__atomic_store_n(&list[n], entry, __ATOMIC_RELEASE);
	if (list != environ)
		publish(list);
}

void agent_environment_enter(const struct attach_request *request)
{
	if (request->modules & RING_GATE_NVTX)
		add_injection_entry(0, request->agent_path);
	if (request->modules & RING_GATE_CUDA)
		add_injection_entry(1, request->cuda_path);
}

/* Ours are the last ones of our list; in another list, which the program made meanwhile, the name becomes one that nobody asks for. */
static void remove_injection_entry(unsigned which)
{
	char *entry = environment.entries[which];
	size_t n = count_variables(environ);

	if (!entry)
		return;
	if (environ && environ == environment.list && n > 0 && environ[n - 1] == entry)
		__atomic_store_n(&environ[n - 1], NULL, __ATOMIC_RELEASE);
	else if (has_environment_entry(environ, entry))
		__atomic_store_n(&entry[0], '_', __ATOMIC_RELEASE);
}

void agent_environment_leave(void)
{
	for (unsigned i = VARIABLES; i-- > 0;)
		remove_injection_entry(i);
}
