/* Shapes of functions, for wrappers made from a line of osrt_calls.def. All arguments of these functions
 * are whole numbers and pointers, which travel in whole registers: a wrapper passes on as many as the function
 * can have, whatever their types, and those of `...` the same way. */
#ifndef SONDE_AGENT_OSRT_SHAPES_H
#define SONDE_AGENT_OSRT_SHAPES_H

#define OSRT_TYPE_INT int
#define OSRT_TYPE_LONG long
#define OSRT_TYPE_POINTER void *
#define OSRT_TYPE_VOID void

#define OSRT_PARAMETERS_0 (void)
#define OSRT_PARAMETERS_1 (long a)
#define OSRT_PARAMETERS_2 (long a, long b)
#define OSRT_PARAMETERS_3 (long a, long b, long c)
#define OSRT_PARAMETERS_4 (long a, long b, long c, long d)
#define OSRT_PARAMETERS_5 (long a, long b, long c, long d, long e)
#define OSRT_PARAMETERS_6 (long a, long b, long c, long d, long e, long f)
#define OSRT_PARAMETERS_7 (long a, long b, long c, long d, long e, long f, long g)

#define OSRT_ARGUMENTS_0 ()
#define OSRT_ARGUMENTS_1 (a)
#define OSRT_ARGUMENTS_2 (a, b)
#define OSRT_ARGUMENTS_3 (a, b, c)
#define OSRT_ARGUMENTS_4 (a, b, c, d)
#define OSRT_ARGUMENTS_5 (a, b, c, d, e)
#define OSRT_ARGUMENTS_6 (a, b, c, d, e, f)
#define OSRT_ARGUMENTS_7 (a, b, c, d, e, f, g)

/* clang-format off */
#define OSRT_LIST_0 { 0 }
#define OSRT_LIST_1 { a }
#define OSRT_LIST_2 { a, b }
#define OSRT_LIST_3 { a, b, c }
#define OSRT_LIST_4 { a, b, c, d }
#define OSRT_LIST_5 { a, b, c, d, e }
#define OSRT_LIST_6 { a, b, c, d, e, f }
#define OSRT_LIST_7 { a, b, c, d, e, f, g }
/* clang-format on */

#define OSRT_KEEP_INT int result =
#define OSRT_KEEP_LONG long result =
#define OSRT_KEEP_POINTER void *result =
#define OSRT_KEEP_VOID

#define OSRT_RESULT_INT result
#define OSRT_RESULT_LONG result
#define OSRT_RESULT_POINTER (int64_t)(uintptr_t) result
#define OSRT_RESULT_VOID 0

#define OSRT_RETURN_INT return result
#define OSRT_RETURN_LONG return result
#define OSRT_RETURN_POINTER return result
#define OSRT_RETURN_VOID return

#endif
