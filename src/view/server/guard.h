/* Who may read: docs/view.md. Secrets are 128 random bits in hexadecimal. */
#ifndef SONDE_VIEW_SERVER_GUARD_H
#define SONDE_VIEW_SERVER_GUARD_H

#include <stdbool.h>
#include <stddef.h>

#define GUARD_SECRET_SIZE 33
#define GUARD_TOKENS 8

struct guard {
	char key[GUARD_SECRET_SIZE]; /* wanted with every request for what a report has */
	/* Tokens not used yet; the oldest makes room for a new one. */
	char tokens[GUARD_TOKENS][GUARD_SECRET_SIZE];
	unsigned next;
	bool any_address; /* bound to more than loopback: addresses that are numbers are ours */
	char name[256];   /* what --bind gave, and the host's own name */
	char host_name[256];
};

/* `bound` is the address of --bind. -errno where there is no randomness. */
int guard_init(struct guard *g, const char *bound);
/* A new token, for one use. */
int guard_token(struct guard *g, char *ret);
/* Uses it up; false where it is none, as is NULL. */
bool guard_redeem(struct guard *g, const char *token);

/* Headers as sent; NULL where there was none. */
bool guard_host_is_ours(const struct guard *g, const char *host);
bool guard_origin_fits(const char *origin, const char *host);
/* What browsers say of where a request comes from. */
bool guard_fetch_site_fits(const char *site);
bool guard_has_key(const struct guard *g, const char *key);

bool guard_is_loopback(const char *address);
/* Does not tell by its time where two texts differ. */
bool guard_equal(const char *a, const char *b, size_t size);

#endif
