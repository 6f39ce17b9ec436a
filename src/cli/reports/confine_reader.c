#include "cli/reports/confine_reader.h"

#include <limits.h>

#include "kernel/source/disassemble.h"
#include "symbol/line_cache.h"

void confine_reader(struct confinement *c)
{
	char folder[PATH_MAX];

	confine_allow_usual(c);
	confine_allow(c, CONFINE_READ, "/");
	if (line_cache_folder(folder, sizeof(folder)) >= 0)
		confine_allow(c, CONFINE_READ | CONFINE_WRITE, folder);
}

void confine_reader_of_code(struct confinement *c)
{
	char program[PATH_MAX];
	struct error err;

	confine_reader(c);
	c->runs = disassembler_find(program, sizeof(program), &err) >= 0;
	/* It may be a script of the user's, and what that starts. */
	if (c->runs)
		confine_allow(c, CONFINE_READ | CONFINE_RUN, "/");
}

void confine_command(const struct cli *cli, struct confinement *c)
{
	if (cli->may_confine)
		confine_enter(c);
	else
		confine_release(c);
}
