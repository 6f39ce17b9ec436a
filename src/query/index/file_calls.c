#include "query/index/file_calls.h"

#include <stddef.h>
#include <string.h>

#include "base/macros.h"

/* The rest behind a name is one of these: variants that do the same. */
static int is_variant(const char *rest)
{
	static const char *const variants[] = { "", "64", "_unlocked", "v", "v64", "v2", "v64v2", "_chk" };

	for (size_t i = 0; i < COUNT_OF(variants); i++)
		if (strcmp(rest, variants[i]) == 0)
			return 1;
	return 0;
}

enum file_call file_call_of(const char *name)
{
	static const struct {
		const char *name;
		enum file_call kind;
	} calls[] = {
		{ "open", FILE_CALL_OPEN },
		{ "openat", FILE_CALL_OPEN },
		{ "creat", FILE_CALL_OPEN },
		{ "fopen", FILE_CALL_OPEN },
		{ "freopen", FILE_CALL_OPEN },
		{ "fdopen", FILE_CALL_OPEN },
		{ "popen", FILE_CALL_OPEN },
		{ "mkstemp", FILE_CALL_OPEN },
		{ "mkostemp", FILE_CALL_OPEN },
		{ "mkstemps", FILE_CALL_OPEN },
		{ "mkostemps", FILE_CALL_OPEN },
		{ "tmpfile", FILE_CALL_OPEN },
		{ "socket", FILE_CALL_OPEN },
		{ "accept", FILE_CALL_OPEN },
		{ "accept4", FILE_CALL_OPEN },
		{ "close", FILE_CALL_CLOSE },
		{ "fclose", FILE_CALL_CLOSE },
		{ "pclose", FILE_CALL_CLOSE },
		{ "read", FILE_CALL_READ },
		{ "pread", FILE_CALL_READ },
		{ "fread", FILE_CALL_READ },
		{ "fgets", FILE_CALL_READ },
		{ "fgetws", FILE_CALL_READ },
		{ "fgetc", FILE_CALL_READ },
		{ "fgetwc", FILE_CALL_READ },
		{ "getc", FILE_CALL_READ },
		{ "getwc", FILE_CALL_READ },
		{ "getchar", FILE_CALL_READ },
		{ "getline", FILE_CALL_READ },
		{ "getdelim", FILE_CALL_READ },
		{ "getw", FILE_CALL_READ },
		{ "vscanf", FILE_CALL_READ },
		{ "fscanf", FILE_CALL_READ },
		{ "vfscanf", FILE_CALL_READ },
		{ "scanf", FILE_CALL_READ },
		{ "recv", FILE_CALL_READ },
		{ "recvfrom", FILE_CALL_READ },
		{ "recvmsg", FILE_CALL_READ },
		{ "recvmmsg", FILE_CALL_READ },
		{ "getdents", FILE_CALL_READ },
		{ "write", FILE_CALL_WRITE },
		{ "pwrite", FILE_CALL_WRITE },
		{ "fwrite", FILE_CALL_WRITE },
		{ "fputs", FILE_CALL_WRITE },
		{ "fputws", FILE_CALL_WRITE },
		{ "puts", FILE_CALL_WRITE },
		{ "fputc", FILE_CALL_WRITE },
		{ "fputwc", FILE_CALL_WRITE },
		{ "putc", FILE_CALL_WRITE },
		{ "putwc", FILE_CALL_WRITE },
		{ "putw", FILE_CALL_WRITE },
		{ "putchar", FILE_CALL_WRITE },
		{ "printf", FILE_CALL_WRITE },
		{ "fprintf", FILE_CALL_WRITE },
		{ "vfprintf", FILE_CALL_WRITE },
		{ "vprintf", FILE_CALL_WRITE },
		{ "dprintf", FILE_CALL_WRITE },
		{ "vdprintf", FILE_CALL_WRITE },
		{ "send", FILE_CALL_WRITE },
		{ "sendto", FILE_CALL_WRITE },
		{ "sendmsg", FILE_CALL_WRITE },
		{ "sendmmsg", FILE_CALL_WRITE },
		{ "sendfile", FILE_CALL_WRITE },
		{ "splice", FILE_CALL_WRITE },
		{ "copy_file_range", FILE_CALL_WRITE },
	};
	size_t len;

	if (strncmp(name, "__", 2) == 0)
		name += 2;
	for (size_t i = 0; i < COUNT_OF(calls); i++) {
		len = strlen(calls[i].name);
		if (strncmp(name, calls[i].name, len) == 0 && is_variant(name + len))
			return calls[i].kind;
	}
	return FILE_CALL_OTHER;
}
