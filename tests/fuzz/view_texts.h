/* Sections and words of every kind, in place of the files of share/. */
#ifndef FUZZ_VIEW_TEXTS_H
#define FUZZ_VIEW_TEXTS_H

#include <stdlib.h>
#include <string.h>

#include "view/kernels/kernels.h"

static const char fuzz_section[] =
	"title = All\nsets = basic\nabout = Every kind of block.\n"
	"[rows]\nDuration = gpu__time_duration.sum [ns]\nShare = 100 * a__b.sum / c__d.sum [%]\n@9.0- Only = e__f.avg\n"
	"[details]\nMore = a__b.sum\n[collect]\nHidden = c__d.sum\n"
	"[bars Bars]\nA = a__b.sum\nC = c__d.sum\n"
	"[table Table]\ncolumns = One [byte] | Two\nLine = a__b.sum | c__d.sum\nHalf = - | c__d.sum\n"
	"[breakdown Parts]\nMemory = gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed [%]\n"
	"[roofline Roof]\nwork W = a__b.sum | c__d.sum\ntraffic T = a__b.sum | c__d.sum\n"
	"[timeline Time]\nSampled = pmsampling:a__b.sum [%]\n"
	"[graph Graph]\nA > B = a__b.sum [byte]\nB = c__d.sum\n"
	"[curves Curves]\nBy = sass__inst_executed_per_opcode\n"
	"[source Source]\nExecuted = inst_executed\nThreads = thread_inst_executed / inst_executed\n";
static const char fuzz_words[] = "kind = metric\na__b.sum [byte] = Bytes.\n";

static inline struct view_texts *fuzz_texts(void)
{
	static struct view_texts texts;
	struct error err;

	if (texts.sections.count)
		return &texts;
	texts.sections.items = calloc(1, sizeof(*texts.sections.items));
	if (!texts.sections.items || section_parse(texts.sections.items, "All.section", fuzz_section, sizeof(fuzz_section) - 1, &err) < 0 ||
	    glossary_parse(&texts.glossary, "words.txt", fuzz_words, sizeof(fuzz_words) - 1, &err) < 0)
		abort();
	texts.sections.count = 1;
	glossary_sort(&texts.glossary);
	return &texts;
}

#endif
