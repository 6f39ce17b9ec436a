#include "cli/profile/hotkey.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/macros.h"

#define ESCAPE '\033'

struct key_name {
	const char *sequence; /* behind the escape */
	unsigned key;
};

/* clang-format off */
static const struct key_name key_names[] = {
	{ "OP", 1 }, { "OQ", 2 }, { "OR", 3 }, { "OS", 4 },
	{ "[11~", 1 }, { "[12~", 2 }, { "[13~", 3 }, { "[14~", 4 },
	{ "[[A", 1 }, { "[[B", 2 }, { "[[C", 3 }, { "[[D", 4 }, { "[[E", 5 },
	{ "[15~", 5 }, { "[17~", 6 }, { "[18~", 7 }, { "[19~", 8 }, { "[20~", 9 }, { "[21~", 10 }, { "[23~", 11 }, { "[24~", 12 },
};
/* clang-format on */

/* The key of a whole sequence, 0 where it is none of these; -1 while its end has not come. */
static int find_key(const char *sequence, size_t size)
{
	for (size_t i = 0; i < COUNT_OF(key_names); i++) {
		size_t length = strlen(key_names[i].sequence);

		if (size <= length && memcmp(sequence, key_names[i].sequence, size) == 0)
			return size == length ? (int)key_names[i].key : -1;
	}
	return 0;
}

unsigned key_reader_count(struct key_reader *reader, unsigned key, const char *bytes, size_t size)
{
	unsigned count = 0;
	int found;

	for (size_t i = 0; i < size; i++) {
		if (bytes[i] == ESCAPE) {
			reader->sequence[0] = ESCAPE;
			reader->size = 1;
			continue;
		}
		if (!reader->size)
			continue;
		reader->sequence[reader->size++] = bytes[i];
		found = find_key(reader->sequence + 1, reader->size - 1);
		if (found >= 0 || reader->size == sizeof(reader->sequence))
			reader->size = 0;
		count += found > 0 && (unsigned)found == key;
	}
	return count;
}

/* In the background the terminal is another's. */
static bool has_terminal(const struct hotkey *hotkey)
{
	return tcgetpgrp(hotkey->fd) == getpgrp();
}

/* Single keys come at once and are not shown; Ctrl-C and Ctrl-Z stay what they are. */
static void take_keys(const struct hotkey *hotkey)
{
	struct termios now;

	if (!has_terminal(hotkey) || tcgetattr(hotkey->fd, &now) < 0)
		return;
	now.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	now.c_cc[VMIN] = 1;
	now.c_cc[VTIME] = 0;
	tcsetattr(hotkey->fd, TCSANOW, &now);
}

void hotkey_open(struct hotkey *hotkey, unsigned key)
{
	*hotkey = (struct hotkey){ .fd = -1, .key = key };
	if (isatty(STDIN_FILENO))
		return;
	hotkey->fd = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (hotkey->fd >= 0 && has_terminal(hotkey) && tcgetattr(hotkey->fd, &hotkey->before) == 0) {
		take_keys(hotkey);
		return;
	}
	if (hotkey->fd >= 0)
		close(hotkey->fd);
	hotkey->fd = -1;
}

void hotkey_close(struct hotkey *hotkey)
{
	if (hotkey->fd < 0)
		return;
	if (has_terminal(hotkey))
		tcsetattr(hotkey->fd, TCSANOW, &hotkey->before);
	close(hotkey->fd);
	hotkey->fd = -1;
}

int hotkey_pressed(void *context)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	struct hotkey *hotkey = context;
	unsigned count = 0;
	char bytes[256];
	ssize_t n;

	/* In the background keys are another's, who has not read them yet. */
	if (!has_terminal(hotkey)) {
		nanosleep(&pause, NULL);
		return 0;
	}
	/* Who continued us may have changed the terminal meanwhile. */
	take_keys(hotkey);
	while ((n = read(hotkey->fd, bytes, sizeof(bytes))) > 0)
		count += key_reader_count(&hotkey->reader, hotkey->key, bytes, (size_t)n);
	return n == 0 || (errno != EAGAIN && errno != EINTR) ? -1 : (int)count;
}
