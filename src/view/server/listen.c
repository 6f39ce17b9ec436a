#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "view/internal.h"

#define USUAL_PORT 7300
#define PORTS_TRIED 20
#define BACKLOG 64

static int try_listen(const struct addrinfo *a)
{
	int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), yes = 1, r;

	if (fd < 0)
		return -errno;
	/* Connections of a server that ended do not keep the port. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(fd, a->ai_addr, a->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0) {
		r = -errno;
		close(fd);
		return r;
	}
	return fd;
}

static int bound_port(int fd)
{
	struct sockaddr_storage address;
	socklen_t size = sizeof(address);
	char port[16];

	if (getsockname(fd, (struct sockaddr *)&address, &size) < 0 ||
	    getnameinfo((struct sockaddr *)&address, size, NULL, 0, port, sizeof(port), NI_NUMERICSERV))
		return 0;
	int number = 0;

	sscanf(port, "%d", &number);
	return number;
}

static int listen_at(const char *address, int port, struct error *err)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE }, *found = NULL;
	char text[16];
	int r;

	snprintf(text, sizeof(text), "%d", port);
	r = getaddrinfo(address, text, &hints, &found);
	if (r)
		return error_set(err, EINVAL, "There is no address %s to bind to: %s", address, gai_strerror(r));
	r = try_listen(found);
	freeaddrinfo(found);
	if (r == -EADDRINUSE)
		return error_set(err, EADDRINUSE, "Port %d is in use; --port 0 takes one that is free", port);
	if (r < 0)
		return error_set_errno(err, -r, "%s port %d cannot be listened on", address, port);
	return r;
}

int listen_on(const char *address, int *port, struct error *err)
{
	int fd = -EADDRINUSE;

	if (*port >= 0)
		fd = listen_at(address, *port, err);
	for (int i = 0; *port < 0 && i < PORTS_TRIED && fd == -EADDRINUSE; i++)
		fd = listen_at(address, USUAL_PORT + i, err);
	if (*port < 0 && fd == -EADDRINUSE)
		fd = listen_at(address, 0, err);
	if (fd >= 0)
		*port = bound_port(fd);
	return fd;
}
