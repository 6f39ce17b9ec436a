/* Can this program carry a preloaded library? Told from its file before it is executed.
 *
 * Also called inside targets (between vfork and exec, in signal handlers): no
 * allocation, no locks, no libc beyond raw system calls, about 3 KB of stack. errno
 * is left as it was. */
#ifndef SONDE_BASE_SYSTEM_ELF_PEEK_H
#define SONDE_BASE_SYSTEM_ELF_PEEK_H

enum elf_peek_kind {
	ELF_PEEK_OK = 0,     /* dynamically linked, 64-bit, this machine, glibc */
	ELF_PEEK_UNREADABLE, /* cannot be opened or read (execute-only, gone) */
	ELF_PEEK_FOREIGN,    /* neither ELF nor a script: the kernel decides */
	ELF_PEEK_STATIC,     /* no dynamic linker */
	ELF_PEEK_32BIT,
	ELF_PEEK_MACHINE,     /* made for another CPU */
	ELF_PEEK_OTHER_LIBC,  /* musl or bionic */
	ELF_PEEK_ASAN,        /* the sanitizer wants to be the first library */
	ELF_PEEK_SMALL_STACK, /* of the file it is not told: a limit leaves the loader no room for one library more */
	ELF_PEEK_PRIVILEGED,  /* setuid, setgid or with file capabilities: the linker ignores us */
	ELF_PEEK_KIND_COUNT
};

/* With a smaller limit on its stack (RLIMIT_STACK) a program may die in the loader: that has 4 KB and more of it for LD_PRELOAD alone,
 * and the kernel takes up to 8 KB at random. */
#define ELF_PEEK_STACK_LEAST (64u << 10)

/* `path` as execve would take it (no PATH search); scripts are followed to
 * their interpreter. */
enum elf_peek_kind elf_peek_path(const char *path);

/* Half a sentence: "is statically linked"; for ELF_PEEK_OK "can be traced". */
const char *elf_peek_reason(enum elf_peek_kind kind);

/* Whether LD_PRELOAD may name the agent: it works, or is ignored without harm. */
int elf_peek_preloadable(enum elf_peek_kind kind);
/* Whether the program could load the agent by dlopen (NVTX's injection). */
int elf_peek_loadable(enum elf_peek_kind kind);

#endif
