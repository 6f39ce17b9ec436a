/* Functions of stdio that a line in osrt_calls.def cannot describe: those with `...`, those that mean
 * stdin or stdout, and those of one character, which mostly only move it within the buffer. */
#include "agent/osrt/osrt.h"

#include <stdarg.h>
#include <stdio.h>

#define EXPORT(symbol, parameters) \
	AGENT_EXPORT int osrt_call_##symbol parameters __asm__(#symbol); \
	int osrt_call_##symbol parameters

/* Calls the real v-function of the same name. `stream` is what the file is found by (role, argument). */
#define FORWARD(number, vfunction, type, role, file, last, ...) \
	do { \
		type real_ = (type)osrt_pick(OSRT_REAL_##vfunction); \
		struct osrt_frame frame_; \
		int on_ = osrt_on(), result_; \
		va_list list_; \
\
		if (agent_likely(on_)) \
			osrt_begin(&frame_, number); \
		va_start(list_, last); \
		result_ = real_(__VA_ARGS__, list_); \
		va_end(list_); \
		if (agent_likely(on_)) { \
			const long file_[] = { (long)(file) }; \
\
			osrt_end(&frame_, result_, role, file_); \
		} \
		return result_; \
	} while (0)

typedef int (*text_fn)(const char *, va_list);
typedef int (*checked_text_fn)(int, const char *, va_list);
typedef int (*stream_fn)(FILE *, const char *, va_list);
typedef int (*checked_stream_fn)(FILE *, int, const char *, va_list);
typedef int (*descriptor_fn)(int, const char *, va_list);
typedef int (*checked_descriptor_fn)(int, int, const char *, va_list);

EXPORT(printf, (const char *format, ...))
{
	FORWARD(OSRT_printf, vprintf, text_fn, OSRT_FILE_STREAM_BYTES, stdout, format, format);
}

EXPORT(__printf_chk, (int flag, const char *format, ...))
{
	FORWARD(OSRT_printf, __vprintf_chk, checked_text_fn, OSRT_FILE_STREAM_BYTES, stdout, format, flag, format);
}

EXPORT(fprintf, (FILE * stream, const char *format, ...))
{
	FORWARD(OSRT_fprintf, vfprintf, stream_fn, OSRT_FILE_STREAM_BYTES, stream, format, stream, format);
}

EXPORT(__fprintf_chk, (FILE * stream, int flag, const char *format, ...))
{
	FORWARD(OSRT_fprintf, __vfprintf_chk, checked_stream_fn, OSRT_FILE_STREAM_BYTES, stream, format, stream, flag, format);
}

EXPORT(dprintf, (int fd, const char *format, ...))
{
	FORWARD(OSRT_dprintf, vdprintf, descriptor_fn, OSRT_FILE_FD_BYTES, fd, format, fd, format);
}

EXPORT(__dprintf_chk, (int fd, int flag, const char *format, ...))
{
	FORWARD(OSRT_dprintf, __vdprintf_chk, checked_descriptor_fn, OSRT_FILE_FD_BYTES, fd, format, fd, flag, format);
}

#define SCANNERS(prefix) \
	EXPORT(prefix##fscanf, (FILE * stream, const char *format, ...)) \
	{ \
		FORWARD(OSRT_fscanf, prefix##vfscanf, stream_fn, OSRT_FILE_STREAM, stream, format, stream, format); \
	} \
	EXPORT(prefix##scanf, (const char *format, ...)) \
	{ \
		FORWARD(OSRT_scanf, prefix##vscanf, text_fn, OSRT_FILE_STREAM, stdin, format, format); \
	}

SCANNERS()
SCANNERS(__isoc99_)
SCANNERS(__isoc23_)

/* Of a known stream: three values in whole registers. */
typedef int (*three_fn)(long, long, long);

static inline int on_stream(uint32_t number, enum osrt_real which, unsigned role, FILE *stream, long a, long b, long c)
{
	three_fn real = (three_fn)osrt_pick(which);
	const long file[] = { (long)stream };
	struct osrt_frame frame;
	int result;

	if (agent_unlikely(!osrt_on()))
		return real(a, b, c);
	osrt_begin(&frame, number);
	result = real(a, b, c);
	osrt_end(&frame, result, role, file);
	return result;
}

EXPORT(vprintf, (long format, long list))
{
	return on_stream(OSRT_vprintf, OSRT_REAL_vprintf, OSRT_FILE_STREAM_BYTES, stdout, format, list, 0);
}

EXPORT(__vprintf_chk, (long flag, long format, long list))
{
	return on_stream(OSRT_vprintf, OSRT_REAL___vprintf_chk, OSRT_FILE_STREAM_BYTES, stdout, flag, format, list);
}

EXPORT(vscanf, (long format, long list))
{
	return on_stream(OSRT_vscanf, OSRT_REAL_vscanf, OSRT_FILE_STREAM, stdin, format, list, 0);
}

EXPORT(__isoc99_vscanf, (long format, long list))
{
	return on_stream(OSRT_vscanf, OSRT_REAL___isoc99_vscanf, OSRT_FILE_STREAM, stdin, format, list, 0);
}

EXPORT(__isoc23_vscanf, (long format, long list))
{
	return on_stream(OSRT_vscanf, OSRT_REAL___isoc23_vscanf, OSRT_FILE_STREAM, stdin, format, list, 0);
}

/* Whether a character only moves within the buffer, whose layout has been part of the ABI since getc() was a
 * macro. Somebody who asks for every call gets these, too. */
static inline int only_threshold(void)
{
	return agent_likely(agent_pages.session.osrt_threshold != 0 && !agent_pages.session.osrt_files);
}

static inline int is_read_at_once(const FILE *stream)
{
	return only_threshold() && stream->_IO_read_ptr < stream->_IO_read_end;
}

static inline int is_written_at_once(const FILE *stream)
{
	return only_threshold() && stream->_IO_write_ptr < stream->_IO_write_end;
}

#define GET(symbol, name) \
	EXPORT(symbol, (FILE * stream)) \
	{ \
		if (is_read_at_once(stream)) \
			return ((int (*)(FILE *))osrt_pick(OSRT_REAL_##symbol))(stream); \
		return on_stream(OSRT_##name, OSRT_REAL_##symbol, OSRT_FILE_STREAM_CHAR, stream, (long)stream, 0, 0); \
	}
#define PUT(symbol, name) \
	EXPORT(symbol, (int character, FILE *stream)) \
	{ \
		if (is_written_at_once(stream)) \
			return ((int (*)(int, FILE *))osrt_pick(OSRT_REAL_##symbol))(character, stream); \
		return on_stream(OSRT_##name, OSRT_REAL_##symbol, OSRT_FILE_STREAM_CHAR, stream, character, (long)stream, 0); \
	}

GET(getc, getc)
GET(_IO_getc, getc)
GET(fgetc, fgetc)
PUT(putc, putc)
PUT(_IO_putc, putc)
PUT(fputc, fputc)

EXPORT(getchar, (void))
{
	if (is_read_at_once(stdin))
		return ((int (*)(void))osrt_pick(OSRT_REAL_getchar))();
	return on_stream(OSRT_getchar, OSRT_REAL_getchar, OSRT_FILE_STREAM_CHAR, stdin, 0, 0, 0);
}

EXPORT(putchar, (int character))
{
	if (is_written_at_once(stdout))
		return ((int (*)(int))osrt_pick(OSRT_REAL_putchar))(character);
	return on_stream(OSRT_putchar, OSRT_REAL_putchar, OSRT_FILE_STREAM_CHAR, stdout, character, 0, 0);
}
