#include "cli/links/nsys_link.h"

#include <string.h>

#include "base/text/path.h"

/* The release of nsys whose options and tables are spoken here. */
#define SPOKEN_VERSION "2026.2.0"

static bool is_called_by_link(const char *base, const char *name)
{
	size_t len = strlen(name);

	return strncmp(base, name, len) == 0 && (base[len] == '\0' || base[len] == '-');
}

enum cli_role cli_role_of(const char *path)
{
	const char *base = path_name(path);

	if (is_called_by_link(base, "nsys-ui"))
		return CLI_NSYS_UI;
	if (is_called_by_link(base, "nsys"))
		return CLI_NSYS;
	if (is_called_by_link(base, "ncu-ui") || is_called_by_link(base, "nv-nsight-cu"))
		return is_called_by_link(base, "nv-nsight-cu-cli") ? CLI_NCU : CLI_NCU_UI;
	if (is_called_by_link(base, "ncu"))
		return CLI_NCU;
	return is_called_by_link(base, "nvprof") ? CLI_NVPROF : CLI_SONDE;
}

const char *cli_name(const struct cli *cli)
{
	static const char *const names[] = {
		[CLI_SONDE] = "sonde",   [CLI_NSYS] = "nsys", [CLI_NSYS_UI] = "nsys-ui",
		[CLI_NVPROF] = "nvprof", [CLI_NCU] = "ncu",   [CLI_NCU_UI] = "ncu-ui",
	};

	return names[cli->role];
}

bool cli_is_link(const struct cli *cli)
{
	return cli->role != CLI_SONDE;
}

/* Scripts take the first number with dots, what follows "version", or the fifth word. */
void nsys_print_version(struct cli *cli)
{
	fprintf(cli->out,
		"Sonde, called %s, version " SPOKEN_VERSION " (Sonde " SONDE_VERSION " in place of NVIDIA "
		"Nsight Systems)\n",
		cli_name(cli));
}
