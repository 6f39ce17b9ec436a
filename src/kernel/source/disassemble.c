#include "kernel/source/disassemble.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/system/monotonic.h"

#define SECONDS 60 /* more is not waited for */
#define MOST_SYMBOLS 1024u
#define LINE_SIZE 65536u

static int is_program(const char *path)
{
	return access(path, X_OK) == 0;
}

static int in_folder(const char *folder, size_t len, const char *below, char *ret, size_t size)
{
	return folder && len && (size_t)snprintf(ret, size, "%.*s%s/nvdisasm", (int)len, folder, below) < size && is_program(ret);
}

static int in_path(char *ret, size_t size)
{
	const char *path = getenv("PATH");
	size_t len;

	for (; path && *path; path += len + (path[len] == ':')) {
		len = strcspn(path, ":");
		if (path[0] == '/' && in_folder(path, len, "", ret, size))
			return 1;
	}
	return 0;
}

static int in_usual_places(char *ret, size_t size)
{
	static const char *const patterns[] = { "/usr/local/cuda/bin/nvdisasm",
						"/usr/local/cuda-*/bin/nvdisasm",
						"/usr/lib/nvidia-cuda-toolkit/bin/nvdisasm",
						"/opt/*/.venv/lib/python3*/site-packages/triton/backends/nvidia/bin/nvdisasm",
						"/usr/lib/python3*/site-packages/triton/backends/nvidia/bin/nvdisasm",
						"/usr/local/lib/python3*/*-packages/triton/backends/nvidia/bin/nvdisasm",
						"/usr/local/lib/python3*/*-packages/nvidia/*/bin/nvdisasm" };
	int found = 0;
	glob_t paths;

	for (size_t i = 0; i < COUNT_OF(patterns) && !found; i++) {
		if (glob(patterns[i], 0, NULL, &paths) != 0)
			continue;
		for (size_t k = paths.gl_pathc; k > 0 && !found; k--)
			found = is_program(paths.gl_pathv[k - 1]) && strlen(paths.gl_pathv[k - 1]) < size &&
				snprintf(ret, size, "%s", paths.gl_pathv[k - 1]) > 0;
		globfree(&paths);
	}
	return found;
}

int disassembler_find(char *ret, size_t size, struct error *err)
{
	const char *named = getenv("SONDE_NVDISASM"), *home = getenv("CUDA_HOME"), *path = getenv("CUDA_PATH");

	if (named) {
		if (strlen(named) < size && is_program(named)) {
			strcpy(ret, named);
			return 0;
		}
		return error_set(err, ENOENT, "SONDE_NVDISASM: %s cannot be run", named);
	}
	if (in_path(ret, size) || (home && in_folder(home, strlen(home), "/bin", ret, size)) ||
	    (path && in_folder(path, strlen(path), "/bin", ret, size)) || in_usual_places(ret, size))
		return 0;
	return error_set(err, ENOENT,
			 "nvdisasm was not found: instructions have no text. It comes with the CUDA toolkit (package cuda-nvdisasm); "
			 "SONDE_NVDISASM can name it");
}

/* A line is an address between comment marks, and the instruction with a semicolon. */
static int take_instruction(struct disassembly *d, char *line, disassembled_fn take, void *context)
{
	unsigned long long pc;
	char *text, *end;

	pc = strtoull(line + 2, &text, 16);
	if (text == line + 2 || strncmp(text, "*/", 2) != 0 || pc > UINT32_MAX || !*d->function)
		return 0;
	text += 2;
	text += strspn(text, " \t");
	end = strchr(text, ';');
	if (!end || *text == '.')
		return 0;
	while (end > text && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	*end = '\0';
	return *text ? take(context, d->function, (uint32_t)pc, text) : 0;
}

int disassembly_line(struct disassembly *d, char *line, disassembled_fn take, void *context)
{
	size_t len;

	line += strspn(line, " \t");
	if (strncmp(line, "/*", 2) == 0)
		return take_instruction(d, line, take, context);
	len = strlen(line);
	if (len > 7 && len < sizeof(d->function) && strncmp(line, ".text.", 6) == 0 && line[len - 1] == ':')
		snprintf(d->function, sizeof(d->function), "%.*s", (int)(len - 7), line + 6);
	else if (strncmp(line, ".section", 8) == 0)
		d->function[0] = '\0';
	return 0;
}

/* Whole lines as they come; one that is too long is left out. */
static int read_disassembly_lines(int fd, disassembled_fn take, void *context)
{
	struct disassembly *d = calloc(1, sizeof(*d));
	char *buffer = malloc(LINE_SIZE), *end;
	int64_t until = monotonic_ns() + SECONDS * INT64_C(1000000000), left;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	size_t have = 0;
	ssize_t got = 1;
	int r = d && buffer ? 0 : -ENOMEM;

	while (r >= 0 && got > 0) {
		left = until - monotonic_ns();
		if (poll(&p, 1, left > 0 ? (int)(left / 1000000) : 0) <= 0) {
			r = -ETIMEDOUT;
			break;
		}
		got = read(fd, buffer + have, LINE_SIZE - 1 - have);
		have += got > 0 ? (size_t)got : 0;
		buffer[have] = '\0';
		while (r >= 0 && (end = memchr(buffer, '\n', have))) {
			*end++ = '\0';
			r = disassembly_line(d, buffer, take, context);
			have -= (size_t)(end - buffer);
			memmove(buffer, end, have);
		}
		if (have == LINE_SIZE - 1)
			have = 0;
	}
	free(buffer);
	free(d);
	return r;
}

static void run_child(const char *program, const char *list, const char *path, int out)
{
	char *const argv[] = { (char *)program, (char *)"-c", (char *)"-fun", (char *)list, (char *)path, NULL };
	int null = open("/dev/null", O_RDWR);

	dup2(null, 0);
	dup2(out, 1);
	dup2(null, 2);
	execv(program, argv);
	_exit(127);
}

static int run_disassembler(const char *program, const char *list, const char *path, disassembled_fn take, void *context, struct error *err)
{
	int ends[2], status = 0, r;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_set_errno(err, errno, "%s cannot be run", program);
	child = fork();
	if (child == 0)
		run_child(program, list, path, ends[1]);
	close(ends[1]);
	if (child < 0) {
		close(ends[0]);
		return error_set_errno(err, errno, "%s cannot be run", program);
	}
	r = read_disassembly_lines(ends[0], take, context);
	close(ends[0]);
	if (r < 0)
		kill(child, SIGKILL);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (r == -ETIMEDOUT)
		return error_set(err, ETIMEDOUT, "%s took longer than %d s", program, SECONDS);
	if (r < 0)
		return error_set_errno(err, -r, "%s", program);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return error_set(err, EIO, "%s failed (status %d)", program,
				 WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return 0;
}

static int write_image(char *path, size_t path_size, const void *image, size_t size, struct error *err)
{
	const char *folder = getenv("TMPDIR"), *at = image;
	ssize_t wrote = 1;
	int fd;

	if ((size_t)snprintf(path, path_size, "%s/sonde-cubin-XXXXXX", folder && *folder == '/' ? folder : "/tmp") >= path_size)
		return error_set(err, ENAMETOOLONG, "The name in TMPDIR is too long");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return error_set_errno(err, errno, "%s cannot be made", path);
	for (; size && wrote > 0; size -= (size_t)wrote, at += wrote)
		wrote = write(fd, at, size);
	close(fd);
	if (wrote > 0)
		return 0;
	unlink(path);
	return error_set(err, EIO, "%s cannot be written", path);
}

int disassemble(const char *program, const void *image, size_t size, const uint32_t *symbols, size_t symbol_count, disassembled_fn take,
		void *context, struct error *err)
{
	char path[PATH_MAX], *list = calloc(MOST_SYMBOLS, 12), *end = list;
	int r;

	if (!list)
		return error_set(err, ENOMEM, "Not enough memory");
	for (size_t i = 0; i < symbol_count && i < MOST_SYMBOLS; i++)
		end += sprintf(end, "%s%u", i ? "," : "", symbols[i]);
	r = write_image(path, sizeof(path), image, size, err);
	if (r >= 0) {
		r = run_disassembler(program, list, path, take, context, err);
		unlink(path);
	}
	free(list);
	return r;
}
