/* Functions of the OS runtime: their numbers in RECORD_OSRT, what each has to do with files. */
#ifndef SONDE_FMT_OSRT_CALLS_H
#define SONDE_FMT_OSRT_CALLS_H

enum osrt_number {
#define OSRT_CALL(class, name, result, arguments, file) OSRT_##name,
#define OSRT_VERSIONS(class, name, result, arguments, version, old) OSRT_##name,
#define OSRT_HAND(class, name) OSRT_##name,
#define OSRT_ELSEWHERE(class, name) OSRT_##name,
#include "fmt/osrt_calls.def"
	OSRT_NUMBER_COUNT
};

/* With --osrt-file-access: where a call has its file, and how many bytes it moved. Arguments count
 * from 1. */
enum osrt_file_role {
	OSRT_FILE_NONE = 0,
	OSRT_FILE_FD,            /* 1 is a descriptor */
	OSRT_FILE_FD_BYTES,      /* 1 is a descriptor; the result counts bytes */
	OSRT_FILE_FD2_BYTES,     /* 2 is a descriptor; the result counts bytes */
	OSRT_FILE_OPEN,          /* the result is a new descriptor */
	OSRT_FILE_CLOSE,         /* 1 is closed */
	OSRT_FILE_DUP,           /* the result is another descriptor of what 1 is */
	OSRT_FILE_DUP2,          /* the same; 2 is closed for it */
	OSRT_FILE_STREAM,        /* 1 is a stream */
	OSRT_FILE_STREAM2,       /* 2 is a stream */
	OSRT_FILE_STREAM_OPEN,   /* the result is a stream */
	OSRT_FILE_STREAM_REOPEN, /* the result is a stream; 3 was one and is closed */
	OSRT_FILE_STREAM_CLOSE,  /* 1 is a stream, closed */
	OSRT_FILE_ITEMS4,        /* 4 is a stream; the result counts items of size 2 */
	OSRT_FILE_ITEMS5,        /* 5 is a stream; the result counts items of size 3 */
	OSRT_FILE_LINE3,         /* 3 is a stream; the result is a text read from it, or NULL */
	OSRT_FILE_LINE4,         /* the same with 4 */
	OSRT_FILE_TEXT2,         /* 2 is a stream; 1 is a text written to it */
	OSRT_FILE_TEXT_STDOUT,   /* 1 is a text written to stdout, and a newline */
	OSRT_FILE_STREAM_BYTES,  /* 1 is a stream; the result counts bytes */
	OSRT_FILE_STREAM3_BYTES,
	OSRT_FILE_STREAM4_BYTES,
	OSRT_FILE_STREAM_CHAR /* 1 is a stream; one byte unless the result is EOF */
};

#endif
