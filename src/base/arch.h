/* Everything that depends on the CPU and is needed outside one agent module:
 * reading the cycle counter and knowing whether it can be trusted. A port fills
 * in this file, src/agent/core/arch_*.S and the unwinder. */
#ifndef SONDE_BASE_ARCH_H
#define SONDE_BASE_ARCH_H

#include <stdint.h>

#if defined(__x86_64__)

#include <cpuid.h>
#include <x86intrin.h>

static inline uint64_t arch_cycles(void)
{
	return __rdtsc();
}

/* Constant rate in all power states (CPUID 80000007h EDX bit 8). */
static inline int arch_cycles_invariant(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d >> 8 & 1);
}

static inline void arch_pause(void)
{
	_mm_pause();
}

#else
#error "src/base/arch.h: this CPU has not been filled in yet"
#endif

#endif
