/* Recordings that are still being made: opened again when they have grown. Whoever reads the old one goes on with it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/system/monotonic.h"
#include "base/text/ending.h"
#include "view/internal.h"

#define NS_PER_SECOND 1000000000
#define LEAST_PAUSE NS_PER_SECOND
/* Opening takes no more than this part of the time. */
#define PAUSE_SHARE 4

/* The path without .part; NULL where it has none. To be freed. */
static char *finished_path(const char *path)
{
	return text_has_ending(path, ".part") ? strndup(path, strlen(path) - strlen(".part")) : NULL;
}

static int64_t get_change_time(const char *path)
{
	struct stat st;

	return stat(path, &st) < 0 ? 0 : (int64_t)st.st_mtim.tv_sec * NS_PER_SECOND + st.st_mtim.tv_nsec + st.st_size;
}

/* A number that is another one when the file or its journal has grown. */
static int64_t state_of(const char *path)
{
	char *stem = finished_path(path), *journal = NULL;
	int64_t state = get_change_time(path);

	if (stem && asprintf(&journal, "%s.journal", stem) >= 0)
		state ^= get_change_time(journal);
	free(journal);
	free(stem);
	return state;
}

static int open_again(const struct view_report *old, struct view_report **ret, struct error *err)
{
	char *finished = finished_path(old->path);
	int r = view_report_open(ret, old->path, old->name, err);

	/* It has ended and has its own name now. */
	if (r < 0 && finished)
		r = view_report_open(ret, finished, old->name, err);
	free(finished);
	return r;
}

static void replace_live_report(struct view *v, size_t number, struct view_report *fresh, int64_t state)
{
	struct view_report *old;

	pthread_mutex_lock(&v->lock);
	old = v->reports[number];
	fresh->file_state = state;
	v->reports[number] = fresh;
	old->retired = true; /* whoever calls has taken it */
	pthread_mutex_unlock(&v->lock);
}

void view_renew(struct view *v, size_t number)
{
	struct view_report *old, *fresh;
	int64_t began = monotonic_ns(), state;
	struct error err;

	if (pthread_mutex_trylock(&v->renewing) != 0)
		return; /* somebody is at it */
	old = view_take(v, number);
	state = state_of(old->path);
	/* What it was like when it was opened is what is seen first. */
	if (!old->file_state)
		old->file_state = state;
	if (report_is_partial(old->report) && began >= old->renew_next && (state != old->file_state || !state) &&
	    !atomic_load(&old->pending)) {
		if (open_again(old, &fresh, &err) < 0)
			fresh = old;
		fresh->renew_next = monotonic_ns() + (monotonic_ns() - began) * PAUSE_SHARE + LEAST_PAUSE;
		if (fresh != old && old->make)
			old->make(fresh);
		if (fresh != old)
			replace_live_report(v, number, fresh, state);
	}
	view_give(v, old);
	pthread_mutex_unlock(&v->renewing);
}
