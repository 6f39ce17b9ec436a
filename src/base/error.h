/* Errors of library code: a negative errno as the result, and one sentence a
 * person can act on. Library code never prints; a command prints the sentence. */
#ifndef SONDE_BASE_ERROR_H
#define SONDE_BASE_ERROR_H

struct error {
	char text[1024];
};

/* Fills *err (which may be NULL) and returns -code, so that
 * `return error_set(err, EINVAL, "...")` is the whole error path. */
int error_set(struct error *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same, with ": " and strerror(code) appended. */
int error_set_errno(struct error *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
