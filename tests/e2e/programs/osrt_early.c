/* A library (-DLIBRARY) whose constructor runs before anybody else's, and whose allocator calls what others wrap; and
 * the program that uses it. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef LIBRARY

char early_text[64];
int early_count;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *block;
static size_t left;

/* Each piece has its size before it; nothing is given back. */
void *malloc(size_t size)
{
	size_t whole = ((size + 15) & ~(size_t)15) + 16;
	char *piece;

	pthread_mutex_lock(&lock);
	if (whole > left) {
		left = whole > (1 << 20) ? whole : 1 << 20;
		block = mmap(NULL, left, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	}
	piece = block;
	block += whole;
	left -= whole;
	early_count++;
	pthread_mutex_unlock(&lock);
	memcpy(piece, &size, sizeof(size));
	return piece + 16;
}

void free(void *memory)
{
	(void)memory;
}

void *calloc(size_t count, size_t size)
{
	return malloc(count * size); /* fresh from the kernel */
}

void *realloc(void *memory, size_t size)
{
	void *other = malloc(size);
	size_t old = 0;

	if (memory)
		memcpy(&old, (char *)memory - 16, sizeof(old));
	if (memory)
		memcpy(other, memory, old < size ? old : size);
	return other;
}

__attribute__((constructor)) static void early(void)
{
	int fd = open("/proc/self/comm", O_RDONLY);
	ssize_t size = read(fd, early_text, sizeof(early_text) - 1);
	FILE *stream = fopen("/proc/self/comm", "r");

	early_text[size > 0 ? size : 0] = '\0';
	if (!stream || fgetc(stream) == EOF)
		early_text[0] = '\0';
	fclose(stream);
	close(fd);
}

#else

extern char early_text[64];
extern int early_count;

int main(void)
{
	char *more = malloc(100000);

	printf("%s%d %d\n", early_text, more != NULL, early_count > 0);
	return 0;
}

#endif
