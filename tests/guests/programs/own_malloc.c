/* A program with an allocator of its own, by mmap() for every block, that counts what it gives. Nothing else may call it before
 * main() than would without us, and memory from it must come back to it. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MARK 0x600dull

struct head {
	uint64_t mark;
	size_t size;
};

static atomic_int given, taken, before_main;

void *malloc(size_t size)
{
	struct head *head = mmap(NULL, size + sizeof(*head), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (head == MAP_FAILED) {
		errno = ENOMEM;
		return NULL;
	}
	head->mark = MARK;
	head->size = size;
	given++;
	return head + 1;
}

void free(void *memory)
{
	struct head *head = (struct head *)memory - 1;

	if (!memory)
		return;
	if (head->mark != MARK)
		abort();
	taken++;
	munmap(head, head->size + sizeof(*head));
}

void *calloc(size_t count, size_t size)
{
	return malloc(count * size);
}

void *realloc(void *memory, size_t size)
{
	void *copy = malloc(size);

	if (memory && copy) {
		size_t old = ((struct head *)memory - 1)->size;

		memcpy(copy, memory, old < size ? old : size);
		free(memory);
	}
	return copy;
}

static void *allocate(void *argument)
{
	for (int i = 0; i < 200; i++)
		free(strdup(argument));
	return NULL;
}

int main(void)
{
	pthread_t threads[4];
	static char text[] = "some text";
	int begun = given;

	before_main = begun;
	for (int i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, allocate, text) != 0)
			return 1;
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	FILE *file = fopen("/dev/null", "w");
	fprintf(file, "%d\n", begun);
	fclose(file);
	/* glibc itself allocates for threads, so that only our own part is exact. */
	printf("before main %d, in it %s\n", (int)before_main, given - begun >= 800 && taken >= 800 ? "as many as asked" : "wrong");
	return 17;
}
