/* What is said of a window that never opened. */
#include <inttypes.h>

#include "record/control/recorder.h"
#include "record/session/window.h"

static void name_domain(const struct nvtx_capture *capture, struct buf *why)
{
	if (capture->any_domain)
		buf_puts(why, "any domain");
	else if (capture->domain[0])
		buf_printf(why, "domain '%s'", capture->domain);
	else
		buf_puts(why, "the default domain");
}

static void explain_range(struct recorder *r, const char *waits, struct buf *why)
{
	const struct window_seen *seen = &r->drain.session.seen;

	buf_printf(why, "Nothing was recorded: no NVTX range '%s' began in ", r->options->nvtx_capture.range);
	name_domain(&r->options->nvtx_capture, why);
	buf_printf(why, ", as %s waits for", waits);
	if (!seen->count)
		buf_puts(why, "; no other NVTX ranges were seen either");
	for (uint32_t i = 0; i < seen->count; i++)
		buf_printf(why, "%s%s", i ? ", " : "; these NVTX ranges were seen: ", seen->names[i]);
	buf_printf(why, "%s.", seen->more ? ", and others" : "");
}

static void explain_schedule(struct recorder *r, struct buf *why)
{
	uint64_t steps = window_steps_seen(r), needed = schedule_first_active(&r->options->schedule);

	if (steps)
		buf_printf(why,
			   "Nothing was recorded: %" PRIu64 " step%s of '%s' %s seen; the schedule needed %" PRIu64 " before it records.",
			   steps, steps == 1 ? "" : "s", r->options->nvtx_capture.range, steps == 1 ? "was" : "were", needed);
	else
		explain_range(r, "--schedule", why);
}

void window_explain(struct recorder *r)
{
	struct buf why = BUF_INIT;

	if (windows_so_far(r))
		return;
	switch (r->options->capture_range) {
	case CAPTURE_RANGE_NONE:
		if (!r->options->delay_ns)
			return;
		buf_printf(&why, "Nothing was recorded: the program ended before the %g s of --delay.", (double)r->options->delay_ns / 1e9);
		break;
	case CAPTURE_RANGE_NVTX: explain_range(r, "--capture-range=nvtx", &why); break;
	case CAPTURE_RANGE_SCHEDULE: explain_schedule(r, &why); break;
	case CAPTURE_RANGE_HOTKEY:
		buf_printf(&why, "Nothing was recorded: neither the key %s nor a SIGUSR1 came, as --capture-range=hotkey waits for.",
			   r->options->hotkey);
		break;
	case CAPTURE_RANGE_CUDA_PROFILER:
		buf_puts(&why, "Nothing was recorded: the program did not call cudaProfilerStart, "
			       "as --capture-range=cudaProfilerApi waits for.");
		break;
	}
	recorder_note(r, "%s", buf_cstr(&why));
	session_diagnose(&r->drain.session, SOURCE_RECORDER, DIAGNOSTIC_WARNING, 0, "%s", buf_cstr(&why));
	buf_release(&why);
}
