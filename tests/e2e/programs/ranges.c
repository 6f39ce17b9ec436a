/* NVTX ranges by script, one word each, so that a test knows which of them lie in a capture window:
 *
 *   +NAME           push                 +NAME@DOMAIN    push in a domain
 *   -               pop                  -@DOMAIN        pop in a domain
 *   [NAME           start                ]               end of the last start, of any thread
 *   =NAME@DOMAIN    push of a registered string
 *   *N              the words up to '/' N times
 *   &N              the words up to '/' in N threads at once
 *   fork            the rest in a child that the parent waits for
 *   sleep:MS */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sonde/annotate.h"

struct script {
	char **words;
	int count;
};

static void rest(long ms)
{
	struct timespec pause = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&pause, NULL);
}

/* Splits "NAME@DOMAIN" at the last @; the default domain is NULL. */
static sonde_domain domain_of(const char *text, char *name, size_t size)
{
	const char *at = strrchr(text, '@');

	snprintf(name, size, "%.*s", (int)(at ? at - text : (long)strlen(text)), text);
	return at ? sonde_domain_create(at + 1) : NULL;
}

static void run(struct script script);

static void *run_thread(void *script)
{
	run(*(struct script *)script);
	return NULL;
}

/* Returns how many words belong to the block. */
static int run_block(char kind, int times, struct script script)
{
	struct script block = { script.words, 0 };
	pthread_t threads[64];

	while (block.count < script.count && strcmp(block.words[block.count], "/") != 0)
		block.count++;
	for (int i = 0; i < times && i < 64 && kind == '&'; i++)
		pthread_create(&threads[i], NULL, run_thread, &block);
	for (int i = 0; i < times; i++) {
		if (kind == '&' && i < 64)
			pthread_join(threads[i], NULL);
		else if (kind == '*')
			run(block);
	}
	return block.count + 1;
}

static void fork_rest(void)
{
	pid_t child = fork();

	if (child > 0) {
		waitpid(child, NULL, 0);
		_exit(5);
	}
}

static void run_word(const char *word)
{
	static _Atomic sonde_range_id range;
	struct sonde_event event;
	char name[256];
	sonde_domain domain = domain_of(word + 1, name, sizeof(name));

	switch (word[0]) {
	case '+':
		if (domain)
			sonde_domain_range_push(domain, name);
		else
			sonde_range_push(name);
		break;
	case '=':
		event = sonde_event_of(sonde_register_string(domain, name));
		sonde_domain_push_event(domain, &event);
		break;
	case '-':
		if (domain)
			sonde_domain_range_pop(domain);
		else
			sonde_range_pop();
		break;
	case '[': range = domain ? sonde_domain_range_start(domain, name) : sonde_range_start(name); break;
	case ']': sonde_range_end(range); break;
	case 's': rest(atol(word + strlen("sleep:"))); break;
	case 'f': fork_rest(); break;
	default: fprintf(stderr, "what is '%s'?\n", word); exit(2);
	}
}

static void run(struct script script)
{
	for (int i = 0; i < script.count; i++) {
		char *word = script.words[i];

		if (word[0] == '*' || word[0] == '&')
			i += run_block(word[0], atoi(word + 1), (struct script){ script.words + i + 1, script.count - i - 1 });
		else
			run_word(word);
	}
}

int main(int argc, char **argv)
{
	run((struct script){ argv + 1, argc - 1 });
	return 5;
}
