#include "run_cli.h"

#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"

void cli_run_words(struct cli_run *run, const char *const *words)
{
	char *argv[64] = { (char *)(uintptr_t) "sonde" };
	size_t out_size, err_size;
	struct cli cli = { open_memstream(&run->out, &out_size), open_memstream(&run->err, &err_size), "", argv, CLI_SONDE, NULL, false };
	int argc;

	for (argc = 1; words[argc - 1]; argc++) {
		assert_true(argc < 63);
		argv[argc] = (char *)(uintptr_t)words[argc - 1];
	}
	run->status = cli_main(&cli, argc, argv);
	fclose(cli.out);
	fclose(cli.err);
}

void cli_run_release(struct cli_run *run)
{
	free(run->out);
	free(run->err);
}

void assert_contains(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in '%s'", part, text);
}

unsigned count_lines(const char *text)
{
	unsigned lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

void write_under(const char *root, const char *path, const char *text)
{
	char full[PATH_MAX], *slash;
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (slash = strchr(full + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(full, 0700);
		*slash = '/';
	}
	file = fopen(full, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

char *make_folder(void)
{
	char name[] = "cli_test_XXXXXX";
	char *made = mkdtemp(name);

	assert_non_null(made);
	return realpath(made, NULL);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	return remove(path);
}

void remove_folder(char *folder)
{
	nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(folder);
}
