/* A key of the terminal that opens and closes the capture window (-c hotkey). */
#ifndef SONDE_CLI_PROFILE_HOTKEY_H
#define SONDE_CLI_PROFILE_HOTKEY_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

/* Function keys in what a terminal sends: as xterm, rxvt, the console of Linux and VT220 write them. */
struct key_reader {
	char sequence[16]; /* begun by an escape, its end has not come */
	size_t size;
};

/* How often function key `key` (1 to 12) is in these bytes. */
unsigned key_reader_count(struct key_reader *reader, unsigned key, const char *bytes, size_t size);

struct hotkey {
	int fd; /* of the terminal; -1: its keys are not ours */
	unsigned key;
	struct termios before;
	struct key_reader reader;
};

/* Takes the terminal's keys where the program does not read them itself: its standard input is something else. */
void hotkey_open(struct hotkey *hotkey, unsigned key);
/* The terminal is as it was. */
void hotkey_close(struct hotkey *hotkey);
/* Reads what there is; of use for struct profile_options. */
int hotkey_pressed(void *hotkey);

#endif
