/* The formats of `sonde export`, each described once: FORMAT(NAME, word, symbol, ending, help), and FIRST() for the first.
 *   NAME     EXPORT_NAME in enum export_type
 *   word     what -t calls it
 *   symbol   export_<symbol> is its struct export_format (export/internal.h), in a file of its own
 *   ending   of the output's name, where no other is given
 *   help     what it is, in the text of -t: with the words or the mark that join it to the next */
#ifndef SONDE_EXPORT_FORMATS_H
#define SONDE_EXPORT_FORMATS_H

#define EXPORT_FORMATS(FIRST, FORMAT) \
	FIRST(SQLITE, "sqlite", sqlite, ".sqlite", "Tables: an SQLite file as nsys's export, ") \
	FORMAT(JSONLINES, "jsonlines", jsonlines, ".jsonl", "a line of JSON per row (json is the same), or ") \
	FORMAT(CSV, "csv", csv, "_csv", "a folder with a CSV file per table. ") \
	FORMAT(PERFETTO, "perfetto", perfetto, ".pftrace", "Timelines: a Perfetto trace, or ") \
	FORMAT(CHROME, "chrome", chrome, ".json", "JSON as torch.profiler writes it (chrome). ") \
	FORMAT(FOLDED, "folded", folded, ".folded", "Stacks: folded lines for flame graphs, or ") \
	FORMAT(SPEEDSCOPE, "speedscope", speedscope, ".speedscope.json", "speedscope's format. ") \
	FORMAT(HTML, "html", html, ".html", "html is the viewer with the report in one file, for any browser. ") \
	FORMAT(REPORT, "sonde", report, ".copy.sonde", "sonde is a report again: a copy, or with --redact one to hand on. ")

#define EXPORT_WORD_(NAME, word, symbol, ending, help) word
#define EXPORT_NEXT_WORD_(NAME, word, symbol, ending, help) "|" word
#define EXPORT_ENDING_(NAME, word, symbol, ending, help) ending
#define EXPORT_NEXT_ENDING_(NAME, word, symbol, ending, help) ", " ending
#define EXPORT_HELP_(NAME, word, symbol, ending, help) help

/* All words, with | between; all endings, with commas; what -t says of them. */
#define EXPORT_TYPE_NAMES EXPORT_FORMATS(EXPORT_WORD_, EXPORT_NEXT_WORD_)
#define EXPORT_ENDINGS EXPORT_FORMATS(EXPORT_ENDING_, EXPORT_NEXT_ENDING_)
#define EXPORT_TYPE_HELP EXPORT_FORMATS(EXPORT_HELP_, EXPORT_HELP_)

#endif
