#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int error_set(struct error *err, int code, const char *format, ...)
{
	va_list args;

	if (err) {
		va_start(args, format);
		vsnprintf(err->text, sizeof(err->text), format, args);
		va_end(args);
	}
	return -code;
}

int error_set_errno(struct error *err, int code, const char *format, ...)
{
	va_list args;
	size_t used;

	if (err) {
		va_start(args, format);
		vsnprintf(err->text, sizeof(err->text), format, args);
		va_end(args);
		used = strlen(err->text);
		snprintf(err->text + used, sizeof(err->text) - used, ": %s", strerror(code));
	}
	return -code;
}
