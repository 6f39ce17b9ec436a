/* Compiled with -D_FORTIFY_SOURCE: buffers whose size the compiler knows and lengths it does not make it call the
 * checking variants. */
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

__attribute__((format(printf, 2, 3))) static int by_list(FILE *stream, const char *format, ...)
{
	va_list list;
	int result;

	va_start(list, format);
	result = vfprintf(stream, format, list);
	va_end(list);
	return result;
}

int main(int argc, char **argv)
{
	volatile size_t length = 4;
	volatile int flags = O_RDWR;
	char bytes[16] = "";
	struct pollfd polled[2];
	int pair[2], fd = open("/dev/zero", flags);
	FILE *stream = fopen(argv[argc > 1], "r");

	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	polled[0].fd = pair[0];
	polled[0].events = POLLIN;
	printf("%zd\n", read(fd, bytes, length));
	printf("%zd\n", pread(fd, bytes, length, 0));
	printf("%zd", send(pair[1], "12345678", 8, 0));
	printf(" %d", poll(polled, length / 4, 1000));
	printf(" %zd", recv(pair[0], bytes, length, 0));
	printf(" %zd\n", recvfrom(pair[0], bytes, length, 0, NULL, NULL));
	printf("%s\n", fgets(bytes, (int)length, stream));
	printf("%zu\n", fread(bytes, 1, length, stream));
	dprintf(STDOUT_FILENO, "%.2f\n", 1.25);
	fprintf(stdout, "%d\n", by_list(stdout, "%s %f\n", "list", 2.5));
	return fclose(stream);
}
