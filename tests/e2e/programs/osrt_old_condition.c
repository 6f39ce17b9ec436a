/* A program linked when condition variables were one pointer (glibc before 2.3.2): the old functions put the address
 * of the real one there; the new ones would count in it. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

struct old_condition {
	uintptr_t inside;
	uintptr_t never_touched[8];
};

int old_init(struct old_condition *, void *);
int old_wait(struct old_condition *, pthread_mutex_t *);
int old_timedwait(struct old_condition *, pthread_mutex_t *, const struct timespec *);
int old_signal(struct old_condition *);
int old_broadcast(struct old_condition *);
int old_yield(void);
__asm__(".symver old_init, pthread_cond_init@GLIBC_2.2.5");
__asm__(".symver old_wait, pthread_cond_wait@GLIBC_2.2.5");
__asm__(".symver old_timedwait, pthread_cond_timedwait@GLIBC_2.2.5");
__asm__(".symver old_signal, pthread_cond_signal@GLIBC_2.2.5");
__asm__(".symver old_broadcast, pthread_cond_broadcast@GLIBC_2.2.5");
__asm__(".symver old_yield, pthread_yield@GLIBC_2.2.5"); /* nothing new binds to it */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct old_condition condition, other;
static int ready;

static void *wake(void *given)
{
	struct timespec pause = { 0, 20000000 };

	nanosleep(&pause, NULL);
	pthread_mutex_lock(&mutex);
	ready++;
	if (ready == 1)
		old_signal(&condition);
	else
		old_broadcast(&condition);
	pthread_mutex_unlock(&mutex);
	return given;
}

static void tell(const char *what, const struct old_condition *c)
{
	int touched = 0;

	for (int i = 0; i < 8; i++)
		touched += c->never_touched[i] != 0;
	printf("%s: %s, %d words behind it\n", what, c->inside > 65536 ? "a pointer" : "no pointer", touched);
}

int main(void)
{
	struct timespec long_ago = { 1, 0 };
	pthread_t t;

	for (int round = 1; round <= 2; round++) {
		pthread_mutex_lock(&mutex);
		pthread_create(&t, NULL, wake, NULL);
		while (ready < round)
			old_wait(&condition, &mutex);
		pthread_mutex_unlock(&mutex);
		pthread_join(t, NULL);
	}
	tell("wait, signal, broadcast", &condition);
	pthread_mutex_lock(&mutex);
	printf("timedwait %d\n", old_timedwait(&other, &mutex, &long_ago));
	tell("timedwait", &other);
	printf("yield %d\n", old_yield());
	return 0;
}
