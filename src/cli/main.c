#include <fcntl.h>
#include <unistd.h>

#include "cli/command.h"

/* What is closed of the standard streams stays so, for reading, writing and the program that is run; but no file of ours
 * gets their numbers. */
static void reserve_streams(void)
{
	int fd;

	do
		fd = open("/dev/null", (fcntl(STDIN_FILENO, F_GETFD) < 0 ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

int main(int argc, char **argv)
{
	/* clang-format off */
	struct cli cli = { .out = stdout, .err = stderr, .root = "", .command_line = argv, .role = cli_role_of(argc ? argv[0] : ""),
			   .may_confine = true };
	/* clang-format on */

	reserve_streams();
	return cli_main(&cli, argc, argv);
}
