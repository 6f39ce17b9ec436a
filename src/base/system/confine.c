#include "base/system/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/system/confine_calls.h"
#include "base/macros.h"

/* <linux/landlock.h> of the machine that compiles may be older than the kernel that runs. */
#define LANDLOCK_VERSION_QUESTION 1u
#define LANDLOCK_PATH_BENEATH 1
#define CREATE_RULESET 444
#define ADD_RULE 445
#define RESTRICT_SELF 446

struct ruleset_attributes {
	uint64_t files;
	uint64_t net;    /* from version 4 on */
	uint64_t scoped; /* from version 6 on */
};

struct path_beneath {
	uint64_t allowed;
	int32_t fd;
} __attribute__((packed));

/* clang-format off */
enum file_right {
	FS_EXECUTE = 1 << 0, FS_WRITE_FILE = 1 << 1, FS_READ_FILE = 1 << 2, FS_READ_DIR = 1 << 3, FS_REMOVE_DIR = 1 << 4,
	FS_REMOVE_FILE = 1 << 5, FS_MAKE_DIR = 1 << 7, FS_MAKE_REG = 1 << 8, FS_TRUNCATE = 1 << 14
};
/* clang-format on */

#define FS_OF_VERSION_1 ((1u << 13) - 1)
#define FS_OF_VERSION_2 ((1u << 14) - 1) /* and to move files to other folders */
#define FS_OF_VERSION_3 ((1u << 15) - 1) /* and to truncate */
#define FS_OF_VERSION_5 ((1u << 16) - 1) /* and ioctl() of devices */
#define FS_OF_FILES (FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE)
#define NET_TCP 3u /* bind and connect */
#define SCOPES 3u  /* abstract sockets, and signals to processes that are not confined with this one */

int confine_landlock_version(void)
{
	long version = syscall(CREATE_RULESET, NULL, 0, LANDLOCK_VERSION_QUESTION);

	return version < 0 ? -errno : (int)version;
}

void confine_allow(struct confinement *c, unsigned access, const char *path)
{
	char *copy = path && *path ? strdup(path) : NULL;

	if (path && *path && c->count < CONFINE_MOST_PLACES && copy)
		c->places[c->count] = (struct confine_place){ copy, access };
	else
		free(copy);
	c->count += path && *path;
}

void confine_allow_folder_of(struct confinement *c, unsigned access, const char *path)
{
	char folder[PATH_MAX], *slash;
	char *real = path ? realpath(path, NULL) : NULL;

	if (!path || strlen(path) >= sizeof(folder))
		return;
	strcpy(folder, path);
	slash = strrchr(folder, '/');
	if (slash)
		slash[slash == folder] = '\0';
	confine_allow(c, access, slash ? folder : ".");
	/* A link leads to a file elsewhere. */
	slash = real ? strrchr(real, '/') : NULL;
	if (slash) {
		slash[slash == real] = '\0';
		if (strcmp(real, folder) != 0)
			confine_allow(c, access, real);
	}
	free(real);
}

void confine_allow_usual(struct confinement *c)
{
	/* clang-format off */
	static const char *const read[] = { "/usr", "/lib", "/lib64", "/etc/localtime", "/etc/passwd", "/etc/nsswitch.conf", "/etc/ld.so.cache", "/etc/locale.alias",
					    "/sys/devices/system/cpu", "/proc/self", "/dev/urandom", "/dev/random" };
	/* clang-format on */
	static const char *const temporary[] = { "/tmp", "/var/tmp", "/usr/tmp", "/dev/shm" };
	static const char *const named[] = { "TMPDIR", "SQLITE_TMPDIR" };

	for (size_t i = 0; i < COUNT_OF(read); i++)
		confine_allow(c, CONFINE_READ, read[i]);
	for (size_t i = 0; i < COUNT_OF(temporary); i++)
		confine_allow(c, CONFINE_READ | CONFINE_WRITE, temporary[i]);
	for (size_t i = 0; i < COUNT_OF(named); i++)
		confine_allow(c, CONFINE_READ | CONFINE_WRITE, getenv(named[i]));
	confine_allow(c, CONFINE_READ | CONFINE_WRITE, "/dev/null");
}

void confine_release(struct confinement *c)
{
	for (size_t i = 0; i < c->count && i < CONFINE_MOST_PLACES; i++)
		free(c->places[i].path);
	*c = (struct confinement){ 0 };
}

static uint64_t known_rights(int version)
{
	return version >= 5 ? FS_OF_VERSION_5 : version >= 3 ? FS_OF_VERSION_3 : version == 2 ? FS_OF_VERSION_2 : FS_OF_VERSION_1;
}

static uint64_t rights_of(unsigned access)
{
	uint64_t rights = 0;

	if (access & CONFINE_READ)
		rights |= FS_READ_FILE | FS_READ_DIR;
	if (access & CONFINE_WRITE)
		rights |= FS_WRITE_FILE | FS_TRUNCATE | FS_MAKE_REG | FS_MAKE_DIR | FS_REMOVE_FILE | FS_REMOVE_DIR;
	if (access & CONFINE_RUN)
		rights |= FS_EXECUTE;
	return rights;
}

/* False where the kernel takes no rule. What is not there, or is in no file system (a pipe), needs none. */
static bool add_path_rule(int ruleset, const struct confine_place *place, uint64_t known)
{
	struct path_beneath rule = { rights_of(place->access) & known, open(place->path, O_PATH | O_CLOEXEC) };
	struct stat st;
	bool added;

	if (rule.fd < 0)
		return true;
	if (fstat(rule.fd, &st) == 0 && !S_ISDIR(st.st_mode))
		rule.allowed &= FS_OF_FILES;
	added = syscall(ADD_RULE, ruleset, LANDLOCK_PATH_BENEATH, &rule, 0) == 0 || errno == EBADFD || errno == ENOMSG;
	close(rule.fd);
	return added;
}

static void confine_files(const struct confinement *c)
{
	int version = confine_landlock_version(), fd;
	struct ruleset_attributes attributes = { .files = known_rights(version),
						 .net = version >= 4 ? NET_TCP : 0,
						 .scoped = version >= 6 ? SCOPES : 0 };
	bool complete = true;
	size_t size = version >= 6 ? sizeof(attributes) :
		      version >= 4 ? offsetof(struct ruleset_attributes, scoped) :
				     offsetof(struct ruleset_attributes, net);

	/* With a place left out what is allowed would be refused. */
	if (version < 1 || c->count > CONFINE_MOST_PLACES)
		return;
	fd = (int)syscall(CREATE_RULESET, &attributes, size, 0);
	if (fd < 0)
		return;
	for (size_t i = 0; i < c->count && complete; i++)
		complete = add_path_rule(fd, &c->places[i], attributes.files);
	if (complete)
		syscall(RESTRICT_SELF, fd, 0);
	close(fd);
}

void confine_enter(struct confinement *c)
{
	/* Without it neither is allowed to those who are not root; and nothing started here gains rights by being setuid. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) {
		confine_files(c);
		confine_calls(c->accepts, c->runs);
	}
	confine_release(c);
}
