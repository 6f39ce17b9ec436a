/* Scripts: what a program does with CUDA, and how CUPTI behaves, in lines of text. The truth the tests know in advance.
 *
 *	cupti version 26                    how CUPTI behaves: double_settings.c
 *	thread worker                       a section, played by `start worker`; lines before the first are the main thread's
 *	init
 *	launch _Z3addPf stream=7 gx=2 delay=5000 lasts=1000 api=cudaLaunchKernel */
#ifndef SONDE_TESTS_DOUBLE_SCRIPT_H
#define SONDE_TESTS_DOUBLE_SCRIPT_H

#include <stddef.h>
#include <stdint.h>

#define SCRIPT_UNSET INT64_MIN

enum script_action {
#define ACTION(NAME, word, who) ACTION_##NAME,
#include "script_actions.def"
#undef ACTION
	ACTION_COUNT
};

enum script_key {
#define KEY(NAME, word, usual) KEY_##NAME,
#include "script_keys.def"
#undef KEY
	KEY_COUNT
};

struct script_line {
	enum script_action action;
	const char *text;  /* "" where there is none */
	const char *api;   /* name of the call; NULL: the usual one */
	const char *inner; /* name of a call made within it; NULL: none */
	int64_t values[KEY_COUNT];
	const void *prepared; /* the double's: which call it is, found when it is first played */
	size_t partner;       /* of repeat: its end; of end: its repeat */
};

struct script_section {
	char name[32];
	struct script_line *lines;
	size_t count;
};

struct script {
	struct script_section *sections;
	size_t count;
};

/* Ends the process with a message where the script is wrong. */
void script_read(struct script *script, const char *path);
const struct script_section *script_find(const struct script *script, const char *name);

/* Exported by the double. */
typedef void cupti_double_play(struct script_line *line);

#endif
