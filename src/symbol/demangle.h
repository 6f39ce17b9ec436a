/* Names as people write them, from names as linkers write them: C++, Rust, D. */
#ifndef SONDE_SYMBOL_DEMANGLE_H
#define SONDE_SYMBOL_DEMANGLE_H

/* Freed by the caller. NULL when the name is not a mangled one, or too long or deep to be taken apart:
 * then it stands for itself. */
char *demangle(const char *linkage);

/* C++: the function's own name, without name spaces, template arguments and parameters. NULL as above. */
char *demangle_short(const char *linkage);

/* C++: as NVIDIA's tools write the names of kernels: template parameters by number, types of constants. NULL as above. */
char *demangle_cuda(const char *linkage);

/* What a kernel is called in reports, and in nsys's tables: as above, and as demangle() says what is not C++. NULL as above. */
char *demangle_kernel(const char *linkage);

#endif
