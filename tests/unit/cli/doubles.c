#include "doubles.h"

#include <errno.h>
#include <unistd.h>
#include <stdio.h>
#include <string.h>

#include "report/writer.h"

struct record_double record_double;

static void keep(const struct profile_options *options)
{
	size_t i;

	record_double.calls++;
	record_double.options = *options;
	for (i = 0; i < options->env_count && i < 4; i++)
		snprintf(record_double.env[i], sizeof(record_double.env[i]), "%s", options->env[i]);
	for (i = 0; options->argv[i] && i < 4; i++)
		snprintf(record_double.argv[i], sizeof(record_double.argv[i]), "%s", options->argv[i]);
	record_double.argc = (int)i;
}

int record_run(const struct profile_options *options, struct record_result *ret, struct error *err)
{
	keep(options);
	if (options->output_path(options, 4242, 1, ret->path, sizeof(ret->path), err) < 0)
		return -1;
	snprintf(record_double.path, sizeof(record_double.path), "%s", ret->path);
	ret->started = record_double.started;
	ret->exit_status = record_double.exit_status;
	ret->finished = record_double.returns == 0;
	ret->events = 1234;
	ret->dropped = 5;
	ret->bytes = 2500000;
	ret->cost_pair_ps = 25000;
	if (record_double.returns < 0)
		return error_set(err, -record_double.returns, "the disk is full");
	return 0;
}

int record_attach(const struct profile_options *options, struct record_result *ret, struct error *err)
{
	return record_run(options, ret, err);
}

int report_recover(const char *part_path, int overwrite, char *ret_path, size_t path_size, struct error *err)
{
	snprintf(ret_path, path_size, "%.*s", (int)(strlen(part_path) - strlen(".part")), part_path);
	return report_recover_to(part_path, ret_path, overwrite, err);
}

int report_recover_to(const char *part_path, const char *path, int overwrite, struct error *err)
{
	if (!overwrite && access(path, F_OK) == 0)
		return error_set(err, EEXIST, "'%s' exists", path);
	if (rename(part_path, path) < 0)
		return error_set(err, EIO, "cannot be recovered");
	return 0;
}
