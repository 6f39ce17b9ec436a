/* What must hold whatever comes in. Where it does not, the mistake is in this program: one line on standard error says
 * where, and the process ends with SIGABRT before it writes past its memory or shows something wrong. Checks stay on in
 * release builds.
 *
 * Not for what comes from outside, which is refused with an error, and not in agents, which never end a program. A
 * recorder that ends so has lost nothing that it had drained: the journal beside the report has it, the target goes on,
 * and the command that started it names `sonde recover`. */
#ifndef SONDE_BASE_CHECK_H
#define SONDE_BASE_CHECK_H

#define CHECK(condition) (__builtin_expect(!(condition), 0) ? check_failed(#condition, __FILE__, __LINE__) : (void)0)

_Noreturn void check_failed(const char *condition, const char *file, int line) __attribute__((cold));

#endif
