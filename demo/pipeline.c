/* A small video pipeline to look at: frames are loaded, decoded, transformed and written by
 * threads of their own with short queues between them.
 *
 *	load x2 --> decode x2 --> transform x1 --> write x1
 *
 * Five things are wrong with it, on purpose. One stage cannot keep up, so that all others wait for
 * it: most of its time goes into one function, which keeps a lock that decoders and writer need. Frames
 * are written in small pieces, and once the writer stands still for a while. `make demo` records a
 * run and finds all of them. */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <sonde/annotate.h>

#define FRAMES 240
#define QUEUE_LENGTH 4
#define STALLED_FRAME 150
#define FRAME_BYTES 32768
#define PIECE 256 /* bytes the writer writes at once: far too few */

enum category { CATEGORY_IO = 1, CATEGORY_COMPUTE, CATEGORY_WAIT };

struct frame {
	unsigned number;
	uint64_t sum;
	char pixels[FRAME_BYTES];
};

/* What all frames share. */
struct video {
	pthread_mutex_t palette; /* the colours: decoders add to them, transformer and writer look them up */
	int input, output;
};

struct queue {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	struct frame frames[QUEUE_LENGTH];
	unsigned first, count;
	unsigned producers; /* threads that may still put something in */
};

struct stage {
	const char *name; /* of its ranges */
	const char *thread_name;
	void (*work)(struct stage *stage, struct frame *frame);
	struct queue *in, *out; /* NULL at the ends of the pipeline */
	unsigned *next_frame;   /* loaders: number of the next frame, shared */
	struct video *video;
	sonde_domain domain;
	uint32_t category, color;
	uint64_t result; /* writer: sum over all frames */
};

static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static inline __attribute__((always_inline)) void compute(struct frame *frame, int microseconds)
{
	int64_t end = now_us() + microseconds;

	do
		for (int i = 0; i < 1000; i++)
			frame->sum = frame->sum * 6364136223846793005u + 1442695040888963407u;
	while (now_us() < end);
}

static void wait_for_device(int microseconds)
{
	struct timespec t = { microseconds / 1000000, microseconds % 1000000 * 1000 };

	nanosleep(&t, NULL);
}

/* Waiting is a range too: who waits for whom is what tells a bottleneck. */
static void wait_for_change(struct queue *queue, struct stage *stage, const char *why)
{
	struct sonde_event event = sonde_event_named(why);

	sonde_event_category(&event, CATEGORY_WAIT);
	sonde_event_color(&event, 0xffb0b0b0);
	sonde_domain_push_event(stage->domain, &event);
	pthread_cond_wait(&queue->changed, &queue->mutex);
	sonde_domain_range_pop(stage->domain);
}

static void queue_init(struct queue *queue, unsigned producers)
{
	pthread_mutex_init(&queue->mutex, NULL);
	pthread_cond_init(&queue->changed, NULL);
	queue->first = queue->count = 0;
	queue->producers = producers;
}

static void queue_put(struct queue *queue, struct stage *stage, const struct frame *frame)
{
	pthread_mutex_lock(&queue->mutex);
	while (queue->count == QUEUE_LENGTH)
		wait_for_change(queue, stage, "wait for room");
	queue->frames[(queue->first + queue->count++) % QUEUE_LENGTH] = *frame;
	pthread_cond_broadcast(&queue->changed);
	pthread_mutex_unlock(&queue->mutex);
}

static void queue_producer_done(struct queue *queue)
{
	pthread_mutex_lock(&queue->mutex);
	queue->producers--;
	pthread_cond_broadcast(&queue->changed);
	pthread_mutex_unlock(&queue->mutex);
}

/* 0 when nothing is left and nothing will come. */
static int queue_take(struct queue *queue, struct stage *stage, struct frame *frame)
{
	int found;

	pthread_mutex_lock(&queue->mutex);
	while (!queue->count && queue->producers)
		wait_for_change(queue, stage, "wait for input");
	found = queue->count > 0;
	if (found) {
		*frame = queue->frames[queue->first];
		queue->first = (queue->first + 1) % QUEUE_LENGTH;
		queue->count--;
		pthread_cond_broadcast(&queue->changed);
	}
	pthread_mutex_unlock(&queue->mutex);
	return found;
}

static void load(struct stage *stage, struct frame *frame)
{
	off_t place = (off_t)frame->number * FRAME_BYTES;

	wait_for_device(1500);
	if (pread(stage->video->input, frame->pixels, FRAME_BYTES, place) != FRAME_BYTES)
		abort();
	frame->sum = frame->number;
}

/* Functions of their own, so that a profile can name them. */
#define STEP static __attribute__((noinline)) void
STEP parse_header(struct frame *frame)
{
	compute(frame, 150);
}

STEP unpack_pixels(struct video *video, struct frame *frame)
{
	pthread_mutex_lock(&video->palette);
	compute(frame, 550);
	pthread_mutex_unlock(&video->palette);
}

STEP scale_image(struct frame *frame)
{
	compute(frame, 800);
}

/* The planted hot function; it keeps the lock for a third of its time. */
STEP convert_colours(struct video *video, struct frame *frame)
{
	pthread_mutex_lock(&video->palette);
	compute(frame, 900);
	pthread_mutex_unlock(&video->palette);
	compute(frame, 1800);
}

/* Waiting for a device with the lock in hand is what makes others wait for it. */
STEP write_frame(struct video *video, struct frame *frame)
{
	pthread_mutex_lock(&video->palette);
	for (int i = 0; i < FRAME_BYTES; i += PIECE)
		if (write(video->output, frame->pixels + i, PIECE) != PIECE)
			abort();
	wait_for_device(400);
	pthread_mutex_unlock(&video->palette);
}

static void decode(struct stage *stage, struct frame *frame)
{
	sonde_domain_range_push(stage->domain, "parse");
	parse_header(frame);
	sonde_domain_range_pop(stage->domain);
	sonde_domain_range_push(stage->domain, "unpack");
	unpack_pixels(stage->video, frame);
	sonde_domain_range_pop(stage->domain);
}

/* The planted bottleneck: one thread, and more work per frame than any other stage has. */
static void transform(struct stage *stage, struct frame *frame)
{
	sonde_domain_range_push(stage->domain, "colour");
	convert_colours(stage->video, frame);
	sonde_domain_range_pop(stage->domain);
	sonde_domain_range_push(stage->domain, "scale");
	scale_image(frame);
	sonde_domain_range_pop(stage->domain);
}

static void write_out(struct stage *stage, struct frame *frame)
{
	stage->result += frame->sum != 0;
	write_frame(stage->video, frame);
	if (frame->number == STALLED_FRAME) {
		sonde_domain_mark(stage->domain, "disk cache full");
		wait_for_device(300000); /* the planted stall */
	}
}

static int next_input(struct stage *stage, struct frame *frame)
{
	if (stage->in)
		return queue_take(stage->in, stage, frame);
	frame->number = __atomic_fetch_add(stage->next_frame, 1, __ATOMIC_RELAXED);
	return frame->number < FRAMES;
}

static void *run_stage(void *argument)
{
	struct stage *stage = argument;
	/* Too large for the stack: a profiler looks at some kilobytes of it for the callers. */
	struct frame *frame = calloc(1, sizeof(*frame));

	if (!frame)
		abort();
	sonde_name_thread(stage->thread_name);
	while (next_input(stage, frame)) {
		struct sonde_event event = sonde_event_named(stage->name);

		sonde_event_category(&event, stage->category);
		sonde_event_color(&event, stage->color);
		sonde_event_uint32(&event, frame->number);
		sonde_domain_push_event(stage->domain, &event);
		stage->work(stage, frame);
		sonde_domain_range_pop(stage->domain);
		if (stage->out)
			queue_put(stage->out, stage, frame);
	}
	if (stage->out)
		queue_producer_done(stage->out);
	free(frame);
	return NULL;
}

static void name_categories(sonde_domain domain)
{
	sonde_name_category(domain, CATEGORY_IO, "io");
	sonde_name_category(domain, CATEGORY_COMPUTE, "compute");
	sonde_name_category(domain, CATEGORY_WAIT, "wait");
}

/* A file in the folder for such files, without a name from here on. */
static int temporary_file(const char *name)
{
	const char *folder = getenv("TMPDIR");
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s-%d.raw", folder ? folder : "/tmp", name, (int)getpid());
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0) {
		perror(path);
		exit(1);
	}
	unlink(path);
	return fd;
}

static void open_video(struct video *video)
{
	pthread_mutex_init(&video->palette, NULL);
	video->input = temporary_file("demo-frames");
	video->output = temporary_file("demo-video");
	if (ftruncate(video->input, (off_t)FRAMES * FRAME_BYTES) < 0)
		abort();
}

int main(void)
{
	sonde_domain files = sonde_domain_create("files");
	sonde_domain images = sonde_domain_create("video");
	struct queue loaded, decoded, transformed;
	unsigned next_frame = 0;
	struct video video;
	struct stage stages[] = {
		{ "load", "loader 1", load, NULL, &loaded, &next_frame, NULL, files, CATEGORY_IO, 0xff4c78a8, 0 },
		{ "load", "loader 2", load, NULL, &loaded, &next_frame, NULL, files, CATEGORY_IO, 0xff4c78a8, 0 },
		{ "decode", "decoder 1", decode, &loaded, &decoded, NULL, NULL, images, CATEGORY_COMPUTE, 0xff72b7b2, 0 },
		{ "decode", "decoder 2", decode, &loaded, &decoded, NULL, NULL, images, CATEGORY_COMPUTE, 0xff72b7b2, 0 },
		{ "transform", "transformer", transform, &decoded, &transformed, NULL, NULL, images, CATEGORY_COMPUTE, 0xffe45756, 0 },
		{ "write", "writer", write_out, &transformed, NULL, NULL, NULL, files, CATEGORY_IO, 0xff54a24b, 0 },
	};
	enum { STAGES = sizeof(stages) / sizeof(stages[0]) };
	pthread_t threads[STAGES];

	open_video(&video);
	for (int i = 0; i < STAGES; i++)
		stages[i].video = &video;
	name_categories(files);
	name_categories(images);
	queue_init(&loaded, 2);
	queue_init(&decoded, 2);
	queue_init(&transformed, 1);
	sonde_name_thread("main");
	sonde_range_push("pipeline");
	for (int i = 0; i < STAGES; i++)
		if (pthread_create(&threads[i], NULL, run_stage, &stages[i]) != 0)
			abort();
	for (int i = 0; i < STAGES; i++)
		pthread_join(threads[i], NULL);
	sonde_range_pop();
	printf("%u frames written\n", (unsigned)stages[STAGES - 1].result);
	return stages[STAGES - 1].result == FRAMES ? 0 : 1;
}
