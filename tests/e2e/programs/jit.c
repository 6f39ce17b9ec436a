/* Makes code while running and says so where perf looks: a counting loop, "jit_loop of the test". */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(void)
{
	/* mov %rdi,%rax; 1: dec %rax; jnz 1b; ret */
	static const uint8_t loop[] = { 0x48, 0x89, 0xf8, 0x48, 0xff, 0xc8, 0x75, 0xfb, 0xc3 };
	char path[64], *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*run)(uint64_t);
	FILE *map;

	if (code == MAP_FAILED)
		return 1;
	memcpy(code + 64, loop, sizeof(loop));
	mprotect(code, 4096, PROT_READ | PROT_EXEC);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "w");
	if (!map)
		return 1;
	fprintf(map, "%lx %zx jit_loop of the test\n", (unsigned long)(uintptr_t)code + 64, sizeof(loop));
	fclose(map);
	run = (void (*)(uint64_t))(uintptr_t)(code + 64);
	for (int i = 0; i < 10; i++)
		run(100000000);
	printf("%s\n", path);
	return 0;
}
