#include "cli/command.h"

int main(int argc, char **argv)
{
	struct cli cli = { stdout, stderr, "", argv };

	return cli_main(&cli, argc, argv);
}
