/* What every file may use; allocates nothing and calls nothing, so agents may, too. */
#ifndef SONDE_BASE_MACROS_H
#define SONDE_BASE_MACROS_H

#define BIT(number) (1u << (number))
#define BIT64(number) (1ull << (number))
/* All bits up to that one. */
#define BITS_TO(last) ((1u << ((last) + 1)) - 1)

/* Of an array, not of a pointer. */
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#endif
