/* What a program does with annotate.h; compiled as C and as C++. scenario_nvtx.c does the same with NVIDIA's headers. */
#include <stdio.h>
#include <string.h>

#include <sonde/annotate.h>

#include "scenario.h"

static void default_domain(void)
{
	char name[16] = "first";
	sonde_range_id id;
	int outer = sonde_range_push(name);
	int inner;

	strcpy(name, "second");
	inner = sonde_range_push(name);
	printf("levels %d %d %d", outer, inner, sonde_range_pop());
	printf(" %d\n", sonde_range_pop());
	sonde_mark("a mark");
	id = sonde_range_start("long");
	sonde_range_end(id);
	sonde_name_thread("main thread");
}

static void events_of(sonde_domain domain)
{
	struct sonde_event event = sonde_event_named("all");
	sonde_range_id id;

	sonde_event_color(&event, 0xff112233);
	sonde_event_category(&event, 7);
	sonde_event_uint64(&event, UINT64_MAX);
	sonde_domain_push_event(domain, &event);
	sonde_event_int64(&event, -5);
	sonde_domain_mark_event(domain, &event);
	sonde_event_double(&event, 1.5);
	id = sonde_domain_start_event(domain, &event);
	sonde_domain_range_end(domain, id);
	event = sonde_event_of(sonde_register_string(domain, "registered name"));
	sonde_event_uint32(&event, 4000000000u);
	sonde_domain_mark_event(domain, &event);
	sonde_event_int32(&event, -6);
	sonde_domain_mark_event(domain, &event);
	sonde_event_float(&event, 0.25f);
	sonde_domain_mark_event(domain, &event);
	sonde_domain_range_pop(domain);
}

static void named_domain(void)
{
	sonde_domain domain = sonde_domain_create("library");

	sonde_name_category(domain, 7, "io");
	events_of(domain);
	sonde_domain_range_push(domain, "plain");
	sonde_domain_range_pop(domain);
	sonde_domain_mark(domain, "plain mark");
	sonde_domain_range_end(domain, sonde_domain_range_start(domain, "plain start"));
	sonde_domain_destroy(domain);
}

#ifdef __cplusplus
extern "C"
#endif
	void
	scenario(void)
{
	default_domain();
	events_of(SONDE_NVTX_NULL);
	named_domain();
}
