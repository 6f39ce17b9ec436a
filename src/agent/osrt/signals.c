/* sigaction and signal: what they do is decided where samples are taken with a signal. */
#include <signal.h>

#include "agent/core/sampling.h"
#include "agent/osrt/osrt.h"

AGENT_EXPORT int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	struct osrt_frame frame;
	int result;

	if (!osrt_on())
		return agent_sample_sigaction(number, action, old);
	osrt_begin(&frame, OSRT_sigaction);
	result = agent_sample_sigaction(number, action, old);
	osrt_end(&frame, result, OSRT_FILE_NONE, NULL);
	return result;
}

AGENT_EXPORT void (*signal(int number, void (*handler)(int)))(int)
{
	struct osrt_frame frame;
	void (*result)(int);

	if (!osrt_on())
		return agent_sample_signal(number, handler);
	osrt_begin(&frame, OSRT_signal);
	result = agent_sample_signal(number, handler);
	osrt_end(&frame, (int64_t)(uintptr_t)result, OSRT_FILE_NONE, NULL);
	return result;
}
