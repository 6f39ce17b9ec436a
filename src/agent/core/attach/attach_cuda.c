/* The CUDA agent in a program that uses CUDA already. One that begins later finds it by the environment. */
#include <stdio.h>

#include "agent/core/attach.h"
#include "agent/core/interface.h"
#include "agent/core/state.h"
#include "vendor/dl.h"

static _Atomic(const struct agent_attach_listener *) listener;

void agent_on_attach(const struct agent_attach_listener *wanted)
{
	atomic_store(&listener, wanted);
}

static void diagnose_failure(const char *why)
{
	char text[400];

	snprintf(text, sizeof(text), "CUDA is not recorded: %.300s.", why ? why : "the agent cannot be loaded");
	agent_diagnose(DIAGNOSTIC_WARNING, text);
}

static void load_cuda_agent(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	int (*begin)(void) = library ? (int (*)(void))dlsym(library, "InitializeInjection") : NULL;

	if (begin)
		begin();
	else
		diagnose_failure(dlerror ? dlerror() : NULL);
}

static int driver_is_loaded(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);

	if (driver)
		dlclose(driver);
	return driver != NULL;
}

void agent_cuda_enter(const struct attach_request *request)
{
	const struct agent_attach_listener *reported = atomic_load(&listener);

	if (!(request->modules & RING_GATE_CUDA))
		return;
	if (reported)
		reported->enter();
	else if (request->cuda_path[0] && dlopen && dlsym && dlclose && driver_is_loaded())
		load_cuda_agent(request->cuda_path);
	reported = atomic_load(&listener);
	if (reported)
		reported->ready();
}

void agent_cuda_leave(void)
{
	const struct agent_attach_listener *reported = atomic_load(&listener);

	if (reported)
		reported->leave();
}
