/* make_report TEXT REPORT: a report from lines of text (tests/support/text_report.h). */
#include <stdio.h>

#include "support/text_report.h"

int main(int argc, char **argv)
{
	struct error err = { 0 };

	if (argc == 3 && text_report_write(argv[1], argv[2], &err) >= 0)
		return 0;
	fprintf(stderr, "%s\n", argc == 3 ? err.text : "make_report TEXT REPORT");
	return 1;
}
