#include "cli/command.h"

int main(int argc, char **argv)
{
	struct cli cli = { .out = stdout, .err = stderr, .root = "", .command_line = argv, .role = cli_role_of(argc ? argv[0] : "") };

	return cli_main(&cli, argc, argv);
}
