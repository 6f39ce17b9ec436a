#include "view/server/guard.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <unistd.h>

#define SECRET_LENGTH (GUARD_SECRET_SIZE - 1)

bool guard_equal(const char *a, const char *b, size_t size)
{
	unsigned char differs = 0;

	for (size_t i = 0; i < size; i++)
		differs |= (unsigned char)(a[i] ^ b[i]);
	return differs == 0;
}

static int make_secret(char *ret)
{
	unsigned char bytes[SECRET_LENGTH / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return errno ? -errno : -EIO;
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

bool guard_is_loopback(const char *address)
{
	struct in6_addr six;
	struct in_addr four;

	if (strcasecmp(address, "localhost") == 0)
		return true;
	if (inet_pton(AF_INET, address, &four) == 1)
		return ntohl(four.s_addr) >> 24 == 127;
	return inet_pton(AF_INET6, address, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

static bool is_numeric_address(const char *address)
{
	unsigned char bytes[sizeof(struct in6_addr)];

	return inet_pton(AF_INET, address, bytes) == 1 || inet_pton(AF_INET6, address, bytes) == 1;
}

int guard_init(struct guard *g, const char *bound)
{
	memset(g, 0, sizeof(*g));
	g->any_address = !guard_is_loopback(bound);
	snprintf(g->name, sizeof(g->name), "%s", bound);
	if (gethostname(g->host_name, sizeof(g->host_name) - 1) < 0)
		g->host_name[0] = '\0';
	return make_secret(g->key);
}

int guard_token(struct guard *g, char *ret)
{
	int r = make_secret(ret);

	if (r == 0)
		memcpy(g->tokens[g->next++ % GUARD_TOKENS], ret, GUARD_SECRET_SIZE);
	return r;
}

bool guard_redeem(struct guard *g, const char *token)
{
	bool found = false;

	if (!token || strlen(token) != SECRET_LENGTH)
		return false;
	for (unsigned i = 0; i < GUARD_TOKENS; i++)
		if (g->tokens[i][0] && guard_equal(g->tokens[i], token, SECRET_LENGTH)) {
			memset(g->tokens[i], 0, GUARD_SECRET_SIZE);
			found = true;
		}
	return found;
}

/* "name:port", "[::1]:port" or without a port: the name alone. */
static bool host_name_of(const char *host, char *ret, size_t size)
{
	const char *end = host[0] == '[' ? strchr(host, ']') : host + strcspn(host, ":");
	const char *from = host + (host[0] == '[');
	const char *port;

	if (!end || (size_t)(end - from) >= size || end == from)
		return false;
	port = end + (host[0] == '[');
	if (*port && (*port != ':' || port[1 + strspn(port + 1, "0123456789")]))
		return false;
	memcpy(ret, from, (size_t)(end - from));
	ret[end - from] = '\0';
	return true;
}

/* The port may be another: that of a tunnel. A name could be made to mean this machine by whoever owns it; a number
 * cannot. */
bool guard_host_is_ours(const struct guard *g, const char *host)
{
	char name[256];

	if (!host || !host_name_of(host, name, sizeof(name)))
		return false;
	if (guard_is_loopback(name))
		return true;
	return g->any_address &&
	       (is_numeric_address(name) || strcasecmp(name, g->name) == 0 || (g->host_name[0] && strcasecmp(name, g->host_name) == 0));
}

bool guard_origin_fits(const char *origin, const char *host)
{
	if (!origin)
		return true;
	return host && strncmp(origin, "http://", 7) == 0 && strcasecmp(origin + 7, host) == 0;
}

bool guard_fetch_site_fits(const char *site)
{
	return !site || strcmp(site, "same-origin") == 0 || strcmp(site, "none") == 0;
}

bool guard_has_key(const struct guard *g, const char *key)
{
	return key && strlen(key) == SECRET_LENGTH && guard_equal(key, g->key, SECRET_LENGTH);
}
