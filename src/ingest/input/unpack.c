#include "ingest/input/unpack.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <zlib.h>

#define PIECE (256u << 10)    /* unpacked at a time */
#define STEP (8u << 20)       /* made writable at a time */
#define AHEAD (8u << 20)      /* of the reader */
#define INPUT_STEP (1u << 30) /* zlib counts in unsigned int */
#define MOST_RATIO 1032u      /* deflate cannot do better */
#define MOST_ADDRESSES (UINT64_C(1) << 44)
#define LEAST_ADDRESSES (UINT64_C(256) << 20)

struct unpacker {
	const char *packed;
	size_t len;
	char *text;
	size_t room;     /* addresses set aside */
	size_t writable; /* the thread's own */
	size_t released; /* the reader's own */
	z_stream z;
	size_t left; /* of the input, not yet given to zlib */
	pthread_t thread;

	pthread_mutex_t lock; /* for what follows */
	pthread_cond_t changed;
	size_t written;
	size_t wanted; /* unpacking pauses when this much is there */
	int ended, stop;
	const char *trouble;
};

/* As much as it may need; less where the process may not have as many addresses. */
static int set_addresses_aside(struct unpacker *u)
{
	uint64_t size = (uint64_t)u->len < MOST_ADDRESSES / MOST_RATIO ? (uint64_t)u->len * MOST_RATIO : MOST_ADDRESSES;
	void *place = MAP_FAILED;

	size = (size + LEAST_ADDRESSES) & ~(uint64_t)(STEP - 1);
	for (; place == MAP_FAILED && size >= LEAST_ADDRESSES; size = size / 2 & ~(uint64_t)(STEP - 1)) {
		place = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		u->room = size;
	}
	u->text = place;
	return place == MAP_FAILED ? -ENOMEM : 0;
}

/* Room for one more piece behind what was written. */
static const char *reserve_unpacked(struct unpacker *u)
{
	if (u->written + PIECE <= u->writable)
		return NULL;
	if (u->writable + STEP > u->room)
		return "out of addresses for the decompressed text";
	if (mprotect(u->text + u->writable, STEP, PROT_READ | PROT_WRITE) < 0)
		return "out of memory for the decompressed text";
	u->writable += STEP;
	return NULL;
}

static const char *trouble_of(int status)
{
	return status == Z_DATA_ERROR ? "the gzip data is damaged" : "the gzip data ends early";
}

/* One stream may stand behind the other, as gzip allows. 1: there is more to come. */
static int unpack_piece(struct unpacker *u, size_t *ret_size, const char **ret_trouble)
{
	z_stream *z = &u->z;
	int status;

	if (!z->avail_in) {
		z->avail_in = u->left < INPUT_STEP ? (unsigned)u->left : INPUT_STEP;
		u->left -= z->avail_in;
	}
	z->next_out = (Bytef *)u->text + u->written;
	z->avail_out = PIECE;
	status = inflate(z, Z_NO_FLUSH);
	*ret_size = PIECE - z->avail_out;
	if (status == Z_STREAM_END && (z->avail_in || u->left) && *z->next_in == 0x1f)
		return inflateReset(z) == Z_OK;
	if (status == Z_OK && (z->avail_in || u->left || !z->avail_out))
		return 1;
	if (status != Z_STREAM_END)
		*ret_trouble = trouble_of(status);
	return 0;
}

/* Waits for the reader. 0: it wants no more. */
static int may_go_on(struct unpacker *u)
{
	int stop;

	pthread_mutex_lock(&u->lock);
	while (u->written >= u->wanted && !u->stop)
		pthread_cond_wait(&u->changed, &u->lock);
	stop = u->stop;
	pthread_mutex_unlock(&u->lock);
	return !stop;
}

static void *unpack_all(void *context)
{
	struct unpacker *u = context;
	const char *trouble = NULL;
	size_t size = 0;
	int more = 1;

	while (more && may_go_on(u)) {
		size = 0;
		trouble = reserve_unpacked(u);
		more = !trouble && unpack_piece(u, &size, &trouble);
		pthread_mutex_lock(&u->lock);
		u->written += size;
		u->ended = !more;
		u->trouble = trouble;
		pthread_cond_broadcast(&u->changed);
		pthread_mutex_unlock(&u->lock);
	}
	return NULL;
}

static int start_thread(struct unpacker *u)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	r = pthread_create(&u->thread, NULL, unpack_all, u);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -r;
}

int unpack_begin(struct unpacker **ret, const char *packed, size_t len, const char **ret_text)
{
	struct unpacker *u = calloc(1, sizeof(*u));
	int r;

	if (!u)
		return -ENOMEM;
	*u = (struct unpacker){ .packed = packed, .len = len, .left = len, .wanted = AHEAD };
	u->z.next_in = (Bytef *)(uintptr_t)packed;
	pthread_mutex_init(&u->lock, NULL);
	pthread_cond_init(&u->changed, NULL);
	r = set_addresses_aside(u);
	if (r < 0) {
		free(u);
		return r;
	}
	r = inflateInit2(&u->z, 15 + 16) == Z_OK ? start_thread(u) : -ENOMEM;
	if (r < 0) {
		inflateEnd(&u->z);
		munmap(u->text, u->room);
		free(u);
		return r;
	}
	*ret = u;
	*ret_text = u->text;
	return 0;
}

void unpack_end(struct unpacker *u)
{
	pthread_mutex_lock(&u->lock);
	u->stop = 1;
	pthread_cond_broadcast(&u->changed);
	pthread_mutex_unlock(&u->lock);
	pthread_join(u->thread, NULL);
	inflateEnd(&u->z);
	munmap(u->text, u->room);
	munmap((void *)(uintptr_t)u->packed, u->len);
	pthread_mutex_destroy(&u->lock);
	pthread_cond_destroy(&u->changed);
	free(u);
}

size_t unpack_more(struct unpacker *u, size_t have, const char **ret_trouble)
{
	size_t written;

	pthread_mutex_lock(&u->lock);
	u->wanted = have + AHEAD;
	pthread_cond_broadcast(&u->changed);
	while (u->written <= have && !u->ended)
		pthread_cond_wait(&u->changed, &u->lock);
	written = u->written;
	if (u->ended && u->trouble)
		*ret_trouble = u->trouble;
	pthread_mutex_unlock(&u->lock);
	return written;
}

void unpack_release(struct unpacker *u, size_t upto)
{
	/* Behind what the thread writes; a new mapping in place of the old gives back what counts as used, too. */
	if (mmap(u->text + u->released, upto - u->released, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) !=
	    MAP_FAILED)
		u->released = upto;
}
