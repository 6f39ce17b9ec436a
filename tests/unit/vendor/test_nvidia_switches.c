/* Context switches of a GPU, with a driver of our own behind open(), ioctl() and mmap(): it says what it was asked for, refuses what it is told to
 * refuse, and writes records, good ones and others. Numbers and layouts are those of the kernel module's published headers. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "vendor/nvidia/switches.h"

#define RECORDS NVIDIA_SWITCH_RECORDS
#define FD 900

static struct {
	uint32_t refuse; /* this class or command, */
	uint32_t status; /* with this; 0: the call itself fails */
	uint32_t reason;
	uint32_t on_flush; /* records that a flush writes */
	int enabled;
	int maps;
	int mapped; /* that many are */
	uint64_t sizes[4];
	uint16_t sequence;
	uint32_t header[1024]; /* a page */
	_Alignas(8) uint8_t records[RECORDS][32];
} driver;

int __wrap_open64(const char *path, int flags, ...);
int __wrap_ioctl(int fd, unsigned long request, ...);
void *__wrap_mmap64(void *address, size_t size, int protection, int flags, int fd, off_t offset);
int __wrap_munmap(void *address, size_t size);
int __wrap_close(int fd);
void *__real_mmap64(void *address, size_t size, int protection, int flags, int fd, off_t offset);
int __real_munmap(void *address, size_t size);
int __real_close(int fd);

int __wrap_open64(const char *path, int flags, ...)
{
	(void)flags;
	assert_string_equal(path, "/dev/nvidiactl");
	if (driver.refuse == UINT32_MAX) {
		errno = EACCES;
		return -1;
	}
	return FD;
}

int __wrap_close(int fd)
{
	return fd == FD ? 0 : __real_close(fd);
}

void *__wrap_mmap64(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
	if (fd != FD)
		return __real_mmap64(address, size, protection, flags, fd, offset);
	assert_int_equal(protection, PROT_READ);
	assert_int_equal(offset, 0);
	driver.mapped++;
	return size == sizeof(driver.header) ? (void *)driver.header : (void *)driver.records;
}

int __wrap_munmap(void *address, size_t size)
{
	if (address != driver.header && address != driver.records)
		return __real_munmap(address, size);
	driver.mapped--;
	return 0;
}

static void put32(uint8_t *at, uint32_t value)
{
	memcpy(at, &value, sizeof(value));
}

/* As NV_EVENT_BUFFER_RECORD with an NV_EVENT_BUFFER_FECS_RECORD_V2 lies in memory. */
static void write_record(uint16_t type, uint8_t tag, uint32_t context, uint32_t pid, uint64_t time)
{
	uint8_t *r = driver.records[driver.header[1]];
	uint16_t sequence = driver.sequence++;

	memset(r, 0xaa, 32);
	memcpy(r, &type, 2);
	r[8] = tag;
	memcpy(r + 10, &sequence, 2);
	put32(r + 12, context);
	put32(r + 16, pid);
	memcpy(r + 24, &time, 8);
	driver.header[1] = (driver.header[1] + 1) % RECORDS;
}

static void answer(uint32_t command, uint8_t *p, uint32_t size)
{
	if (command == 0x201) {
		memset(p, 0xff, size);
		put32(p, 7);
	}
	if (command == 0x21b) { /* GPU 7 is 2:65:0 */
		put32(p + 4, 2);
		p[8] = 0x65;
	}
	if (command == 0x20801238) {
		assert_int_equal(size, 24);
		assert_int_equal(p[4], 24);
		assert_int_equal(p[16], 1);
		put32(p + 20, driver.reason);
	}
	if (command == 0x90cd0101)
		driver.enabled = p[0];
	if (command == 0x90cd0102)
		memcpy(driver.header, p, 4);
	for (; command == 0x90cd0104 && driver.on_flush; driver.on_flush--)
		write_record(2, driver.on_flush % 2 ? 7 : 6, 11, 1000, 5000 - driver.on_flush);
}

static uint32_t allocated(uint32_t class, const uint8_t *p)
{
	if (class == 0x90ce) {
		memcpy(&driver.sizes[driver.maps++], p + 64, 8);
		assert_int_equal(p[30], 0x40); /* read only */
	}
	if (class == 0x90cd)
		assert_int_equal(p[16], 32);
	return 0xc1d00001;
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	uint8_t *a, *p;
	uint64_t address;
	uint32_t what, size, status = 0;
	unsigned number = request & 0xff;
	va_list args;

	va_start(args, request);
	a = va_arg(args, uint8_t *);
	va_end(args);
	assert_int_equal(fd, FD);
	if (number == 0x4e)
		what = 0x4e;
	else
		memcpy(&what, a + (number == 0x2b ? 12 : 8), 4);
	if (what == driver.refuse) {
		errno = ENOTTY;
		if (!driver.status)
			return -1;
		status = driver.status;
	}
	if (number == 0x4e) {
		put32(a + 40, status);
		return 0;
	}
	memcpy(&address, a + 16, 8);
	memcpy(&size, a + 24, 4);
	p = (uint8_t *)(uintptr_t)address;
	put32(a + 28, status);
	if (number == 0x2b && status == 0 && what == 0x41)
		put32(a + 8, allocated(what, p));
	else if (number == 0x2b && status == 0)
		allocated(what, p);
	if (number == 0x2a)
		answer(what, p, size);
	return 0;
}

static int set_up(void **state)
{
	(void)state;
	memset(&driver, 0, sizeof(driver));
	return 0;
}

static void opened(struct nvidia_switches *s)
{
	char why[160] = "";

	assert_int_equal(nvidia_switches_open(s, 2, 0x65, 0, why, sizeof(why)), 0);
	assert_string_equal(why, "");
	assert_int_equal(nvidia_switches_enable(s, 1), 0);
	assert_int_equal(driver.enabled, 1);
}

static void reads(void **state)
{
	struct nvidia_switches s;
	struct nvidia_switch found[8];
	uint64_t lost = 0;

	(void)state;
	opened(&s);
	assert_int_equal(driver.sizes[0], 4096);
	assert_int_equal(driver.sizes[1], RECORDS * 32);
	assert_int_equal(driver.mapped, 2);
	assert_int_equal(nvidia_switches_read(&s, found, 8, &lost), 0);
	write_record(2, 6, 11, 1000, 500);
	write_record(2, 7, 11, 1000, 600);
	write_record(134, 5, 12, 0, 700); /* the first version, in full detail */
	write_record(134, 3, 0xffffffff, 0xffffffff, 800);
	assert_int_equal(nvidia_switches_read(&s, found, 8, &lost), 4);
	assert_int_equal(found[0].time, 500);
	assert_int_equal(found[0].context, 11);
	assert_int_equal(found[0].pid, 1000);
	assert_int_equal(found[0].begins, 1);
	assert_int_equal(found[1].begins, 0);
	assert_int_equal(found[1].sequence, 1);
	assert_int_equal(found[2].begins, 1);
	assert_int_equal(found[2].pid, 0);
	assert_int_equal(found[3].begins, 0);
	assert_int_equal(found[3].pid, NVIDIA_SWITCH_NOT_TOLD);
	assert_int_equal(driver.header[0], 4); /* the driver has room again */
	assert_int_equal(lost, 0);
	nvidia_switches_close(&s);
	assert_int_equal(driver.mapped, 0);
}

/* What the flush itself writes may not be complete: it is left for the next reading. */
static void late(void **state)
{
	struct nvidia_switches s;
	struct nvidia_switch found[8];
	uint64_t lost = 0;

	(void)state;
	opened(&s);
	driver.on_flush = 3;
	assert_int_equal(nvidia_switches_read(&s, found, 8, &lost), 0);
	assert_int_equal(nvidia_switches_read(&s, found, 2, &lost), 2);
	assert_int_equal(nvidia_switches_read(&s, found, 8, &lost), 1);
	assert_int_equal(found[0].time, 4999);
	nvidia_switches_close(&s);
}

static void losses(void **state)
{
	struct nvidia_switches s;
	struct nvidia_switch found[8];
	uint64_t lost = 0;

	(void)state;
	opened(&s);
	driver.sequence = 65534;
	write_record(2, 6, 1, 1, 1); /* 65534 */
	driver.sequence += 2;        /* 65535 and 0 are missing */
	write_record(2, 7, 1, 1, 2);
	assert_int_equal(nvidia_switches_read(&s, found, 8, &lost), 2);
	assert_int_equal(lost, 2);
	nvidia_switches_enable(&s, 0);
	nvidia_switches_enable(&s, 1);
	driver.sequence += 100; /* nobody listened meanwhile */
	write_record(2, 6, 1, 1, 3);
	assert_int_equal(nvidia_switches_read(&s, found, 8, &lost), 1);
	assert_int_equal(lost, 2);
	nvidia_switches_close(&s);
}

static void nonsense(void **state)
{
	struct nvidia_switches s;
	struct nvidia_switch found[8];
	uint64_t lost = 0;
	_Alignas(8) uint8_t noise[32];

	(void)state;
	opened(&s);
	write_record(0, 6, 1, 1, 1);    /* no type */
	write_record(4, 6, 1, 1, 1);    /* another's */
	write_record(2, 0xff, 1, 1, 1); /* no time */
	write_record(2, 10, 1, 1, 1);
	assert_int_equal(nvidia_switches_read(&s, found, 8, &lost), 0);
	assert_int_equal(driver.header[0], 4); /* passed over, not read again */
	driver.header[1] = RECORDS;
	assert_int_equal(nvidia_switches_read(&s, found, 8, &lost), -EPROTO);
	driver.header[1] = UINT32_MAX;
	assert_int_equal(nvidia_switches_read(&s, found, 8, &lost), -EPROTO);
	driver.header[1] = 3; /* behind us: all but one are there, and are looked at once */
	assert_int_equal(nvidia_switches_read(&s, found, 8, &lost), 0);
	assert_int_equal(driver.header[0], 3);
	nvidia_switches_close(&s);
	srand(1);
	for (int i = 0; i < 100000; i++) {
		for (size_t j = 0; j < sizeof(noise); j++)
			noise[j] = (uint8_t)rand();
		nvidia_switch_decode(noise, &found[0]);
	}
}

static void refusals(void **state)
{
	static const struct {
		uint32_t what, status, reason;
		int result;
		const char *text;
	} cases[] = {
		{ UINT32_MAX, 0, 0, -EACCES, "the interface of the kernel module: Permission denied" },
		{ 0x90ce, 0x1b, 0, -EPERM, "the driver refused memory for an event buffer with status 0x1b" },
		{ 0x90cd, 0x56, 0, -EPERM, "the driver refused an event buffer with status 0x56" },
		{ 0x4e, 0x1f, 0, -EPERM, "the driver refused a mapping of the event buffer with status 0x1f" },
		{ 0x4e, 0, 0, -ENOTTY, "a mapping of the event buffer: Inappropriate ioctl for device" },
		{ 0x20801238, 0x56, 4, -EPERM, "the driver refused to log context switches with status 0x56: administrators only" },
		{ 0x20801238, 0x56, 77, -EPERM, "the driver refused to log context switches with status 0x56" },
	};
	struct nvidia_switches s;
	char why[160];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		set_up(state);
		driver.refuse = cases[i].what;
		driver.status = cases[i].status;
		driver.reason = cases[i].reason;
		assert_int_equal(nvidia_switches_open(&s, 2, 0x65, 0, why, sizeof(why)), cases[i].result);
		assert_string_equal(why, cases[i].text);
		assert_int_equal(s.timer.fd, -1);
		assert_int_equal(driver.mapped, 0);
	}
	set_up(state);
	assert_int_equal(nvidia_switches_open(&s, 2, 0x66, 0, why, sizeof(why)), -ENODEV); /* no such GPU */
}

static void refused_later(void **state)
{
	struct nvidia_switches s;
	struct nvidia_switch found[1];
	uint64_t lost = 0;

	(void)state;
	opened(&s);
	driver.refuse = 0x90cd0104;
	driver.status = 0x1f;
	assert_int_equal(nvidia_switches_read(&s, found, 1, &lost), -EIO);
	driver.refuse = 0x90cd0101;
	driver.status = 0;
	assert_int_equal(nvidia_switches_enable(&s, 1), -ENOTTY);
	nvidia_switches_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(reads, set_up),    cmocka_unit_test_setup(late, set_up),
		cmocka_unit_test_setup(losses, set_up),   cmocka_unit_test_setup(nonsense, set_up),
		cmocka_unit_test_setup(refusals, set_up), cmocka_unit_test_setup(refused_later, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
