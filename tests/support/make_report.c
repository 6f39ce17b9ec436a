/* make_report TEXT REPORT: writes a report from lines of text, for tests in other languages. */
#include <stdio.h>

#include "support/text_report.h"

int main(int argc, char **argv)
{
	struct error err;

	if (argc != 3) {
		fprintf(stderr, "usage: make_report TEXT REPORT\n");
		return 2;
	}
	if (text_report_write(argv[1], argv[2], &err) < 0) {
		fprintf(stderr, "make_report: %s\n", err.text);
		return 1;
	}
	return 0;
}
