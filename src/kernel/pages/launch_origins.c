#include "kernel/pages/launch_origins.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/text/path.h"
#include "fmt/filter/nvtx_filter.h"
#include "kernel/pages/text.h"

/* What ncu has to say of a range beside its name: kinds and values of payload, color and message. */
#define NO_ATTRIBUTES ":none:none:none:none:none:none"

static const char *domain_name(const struct kernel_range *r)
{
	return *r->domain ? r->domain : NVTX_DEFAULT_DOMAIN;
}

static void print_ranges(FILE *out, const struct kernel_result *k, bool pushed)
{
	const char *domain = NULL;
	bool any = false;

	for (size_t i = 0; i < k->range_count; i++) {
		const struct kernel_range *r = &k->ranges[i];

		if ((r->level >= 0) != pushed)
			continue;
		if (!any && pushed)
			fprintf(out, "    NVTX Push/Pop Stack for Thread %" PRId64 ":\n", k->thread);
		else if (!any)
			fprintf(out, "    NVTX Start/End Ranges:\n");
		any = true;
		if (!domain || strcmp(domain, r->domain) != 0)
			fprintf(out, "      %s\n", domain_name(r));
		domain = r->domain;
		if (pushed)
			fprintf(out, "      %*s<%" PRId64 ",%s>\n", 2 * ((int)r->level + 1), "", r->level, r->name);
		else
			fprintf(out, "        <%s>\n", r->name);
	}
}

void page_print_place(FILE *out, const struct kernel_result *k)
{
	print_ranges(out, k, true);
	print_ranges(out, k, false);
	if (k->python_count)
		fprintf(out, "    Python Call Stack:\n");
	for (size_t i = 0; i < k->python_count; i++)
		fprintf(out, "      %s (%s:%" PRId64 ")\n", *k->python[i].function ? k->python[i].function : "?", k->python[i].file,
			k->python[i].line);
	if (k->frame_count)
		fprintf(out, "    Call Stack:\n");
	for (size_t i = 0; i < k->frame_count; i++)
		fprintf(out, "      %s (%s)\n", *k->frames[i].function ? k->frames[i].function : "?", path_name(k->frames[i].module));
}

void csv_ranges_heading(FILE *out)
{
	csv_cell(out, "thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg", false);
	csv_cell(out, "Id:Domain:Start/Stop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg", false);
}

static void put_launch_ranges(struct buf *ret, const struct kernel_result *k, bool pushed)
{
	unsigned number = 0;

	for (size_t i = 0; i < k->range_count; i++) {
		const struct kernel_range *r = &k->ranges[i];

		if ((r->level >= 0) != pushed)
			continue;
		if (pushed && !number++)
			buf_printf(ret, "%" PRId64 " ", k->thread);
		if (pushed)
			buf_printf(ret, " \"%s:%s" NO_ATTRIBUTES "\" ", domain_name(r), r->name);
		else
			buf_printf(ret, " \"%u:%s:%s" NO_ATTRIBUTES "\" ", number++, domain_name(r), r->name);
	}
}

void csv_ranges(FILE *out, const struct kernel_result *k)
{
	struct buf text = BUF_INIT;

	for (int pushed = 1; pushed >= 0; pushed--) {
		buf_clear(&text);
		put_launch_ranges(&text, k, pushed);
		csv_cell(out, buf_cstr(&text), false);
	}
	buf_release(&text);
}

void json_place(FILE *out, const struct kernel_result *k, void (*text)(FILE *out, const char *text))
{
	if (k->range_count)
		fputs(", \"nvtx\": [", out);
	for (size_t i = 0; i < k->range_count; i++) {
		fputs(i ? ", {\"domain\": " : "{\"domain\": ", out);
		text(out, k->ranges[i].domain);
		fputs(", \"name\": ", out);
		text(out, k->ranges[i].name);
		if (k->ranges[i].level >= 0)
			fprintf(out, ", \"level\": %" PRId64, k->ranges[i].level);
		fputc('}', out);
	}
	if (k->range_count)
		fputc(']', out);
	if (k->python_count)
		fputs(", \"python_stack\": [", out);
	for (size_t i = 0; i < k->python_count; i++) {
		fputs(i ? ", {\"function\": " : "{\"function\": ", out);
		text(out, k->python[i].function);
		fputs(", \"file\": ", out);
		text(out, k->python[i].file);
		fprintf(out, ", \"line\": %" PRId64 "}", k->python[i].line);
	}
	if (k->python_count)
		fputc(']', out);
	if (k->frame_count)
		fputs(", \"call_stack\": [", out);
	for (size_t i = 0; i < k->frame_count; i++) {
		fputs(i ? ", {\"function\": " : "{\"function\": ", out);
		text(out, k->frames[i].function);
		fputs(", \"module\": ", out);
		text(out, k->frames[i].module);
		fputc('}', out);
	}
	if (k->frame_count)
		fputc(']', out);
}
