/* Sonde's own text files and the CUPTI of this machine, loaded for all tests of a group. */
#ifndef TESTS_KERNEL_OWN_FILES_H
#define TESTS_KERNEL_OWN_FILES_H

#include "cupti_here.h"
#include "kernel/metrics/glossary.h"
#include "kernel/sections/section.h"

static struct cupti_host cupti;
static struct sections sections;
static struct glossary glossary;

static int load(void **state)
{
	static const char *const folders[] = { SHARE "/sections", SHARE "/sets", SHARE "/metrics" };
	struct error err = { "" };

	cupti_here(&cupti);
	if (sections_load(&sections, folders, 2, &err) < 0 || glossary_load(&glossary, folders + 2, 1, &err) < 0) {
		print_error("%s\n", err.text);
		return -1;
	}
	return 0;
}

static int unload(void **state)
{
	sections_release(&sections);
	glossary_release(&glossary);
	return 0;
}

#endif
