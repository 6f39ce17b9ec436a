/* In place of libnvidia-ml.so.1. Words: links (GPU 0 has three: two to GPU 1, one to a switch, and one that is off), bus:N of GPU 0 (6), gpus:N (2), crash:N (at the Nth sweep), broken (does not start), pids (processes are those in the file GPU_DOUBLE_PIDS).
 *
 * Notes, each with the GPU's number: sweep MONOTONIC (a sweep begins); energy BEFORE AFTER VALUE (raw times of the calls before and after it); pcie MONOTONIC;
 * crash. */
#include <signal.h>
#include <unistd.h>

#include "double_gpu.h"

#define OK 0
#define NOT_SUPPORTED 3

struct utilization {
	unsigned gpu, memory;
};
struct memory {
	unsigned long long total, free, used;
};
struct pci {
	char legacy[16];
	unsigned domain, bus, device, id, subsystem;
	char bus_id[32];
};
struct process {
	unsigned pid;
	unsigned long long memory;
	unsigned gpu_instance, compute_instance;
};
struct field {
	unsigned id, scope;
	long long time, latency;
	int type, result;
	union {
		double d;
		unsigned u;
		unsigned long long ull;
	} value;
};

/* Handles are addresses in here. */
static char devices[64];
static unsigned sweeps;
/* Of the thread that sweeps: when the call before returned, and the energy that was told last. */
static _Thread_local int64_t returned;
static _Thread_local int64_t before_energy, energy;

static long long monotonic_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (long long)t.tv_sec * 1000000000 + t.tv_nsec;
}

static unsigned number(const void *device)
{
	return (unsigned)((const char *)device - devices);
}

const char *nvmlErrorString(int result);
const char *nvmlErrorString(int result)
{
	return result == 9 ? "Driver Not Loaded" : result == NOT_SUPPORTED ? "Not Supported" : "Unknown Error";
}

int nvmlInit_v2(void);
int nvmlInit_v2(void)
{
	return told("broken", 0) ? 9 : OK;
}

int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetCount_v2(unsigned *count)
{
	*count = (unsigned)told("gpus", 2);
	return OK;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
	*device = &devices[index];
	return OK;
}

int nvmlDeviceGetName(void *device, char *name, unsigned size);
int nvmlDeviceGetName(void *device, char *name, unsigned size)
{
	snprintf(name, size, "Made Up %u", number(device));
	return OK;
}

int nvmlDeviceGetUUID(void *device, char *uuid, unsigned size);
int nvmlDeviceGetUUID(void *device, char *uuid, unsigned size)
{
	snprintf(uuid, size, "GPU-00000000-0000-0000-0000-0000000000%02x", number(device) + 1);
	return OK;
}

int nvmlDeviceGetPciInfo_v3(void *device, struct pci *pci);
int nvmlDeviceGetPciInfo_v3(void *device, struct pci *pci)
{
	memset(pci, 0, sizeof(*pci));
	pci->bus = (unsigned)told("bus", 6) + number(device);
	snprintf(pci->bus_id, sizeof(pci->bus_id), "00000000:%02X:00.0", pci->bus);
	return OK;
}

int nvmlDeviceGetUtilizationRates(void *device, struct utilization *u);
int nvmlDeviceGetUtilizationRates(void *device, struct utilization *u)
{
	note("sweep %u %lld\n", number(device), monotonic_now());
	if (++sweeps == (unsigned)told("crash", 0)) {
		note("crash %u\n", number(device));
		raise(SIGSEGV);
	}
	u->gpu = 50 + number(device);
	u->memory = 20 + number(device);
	return OK;
}

int nvmlDeviceGetMemoryInfo(void *device, struct memory *m);
int nvmlDeviceGetMemoryInfo(void *device, struct memory *m)
{
	m->total = 141ull << 30;
	m->used = (number(device) + 1ull) << 30;
	m->free = m->total - m->used;
	returned = raw_now();
	return OK;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *mw);
int nvmlDeviceGetPowerUsage(void *device, unsigned *mw)
{
	*mw = 111000;
	return OK;
}

/* One watt since the machine began: the value is the time. */
int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *mj);
int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *mj)
{
	energy = raw_now() / 1000000;
	before_energy = returned;
	*mj = (unsigned long long)energy;
	return OK;
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius);
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius)
{
	*celsius = 40;
	return number(device) == 1 ? NOT_SUPPORTED : OK;
}

int nvmlDeviceGetClockInfo(void *device, int clock, unsigned *mhz);
int nvmlDeviceGetClockInfo(void *device, int clock, unsigned *mhz)
{
	if (energy)
		note("energy %u %lld %lld %lld\n", number(device), (long long)before_energy, (long long)raw_now(), (long long)energy);
	energy = 0;
	*mhz = clock == 1 ? 1980 : 3201;
	return OK;
}

int nvmlDeviceGetMaxClockInfo(void *device, int clock, unsigned *mhz);
int nvmlDeviceGetMaxClockInfo(void *device, int clock, unsigned *mhz)
{
	*mhz = 2000;
	return OK;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons);
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons)
{
	*reasons = 4;
	return OK;
}

int nvmlDeviceGetPcieThroughput(void *device, int counter, unsigned *kilobytes);
int nvmlDeviceGetPcieThroughput(void *device, int counter, unsigned *kilobytes)
{
	usleep(20000);
	if (counter == 1)
		note("pcie %u %lld\n", number(device), monotonic_now());
	*kilobytes = counter == 1 ? 1234 : 5678;
	return OK;
}

/* Power on the first GPU only; on all of them a KiB every microsecond comes in, and two go out. */
int nvmlDeviceGetFieldValues(void *device, int count, struct field *fields);
int nvmlDeviceGetFieldValues(void *device, int count, struct field *fields)
{
	for (int i = 0; i < count; i++) {
		fields[i].result = OK;
		fields[i].type = 3;
		if (fields[i].id == 186 && number(device) == 0) {
			fields[i].type = 1;
			fields[i].value.u = 345678;
		} else if (fields[i].id == 90 && told("links", 0)) {
			fields[i].type = 1;
			fields[i].value.u = 26562;
		} else if (fields[i].id == 138 || fields[i].id == 139) {
			fields[i].value.ull = (unsigned long long)(raw_now() / 1000) * (fields[i].id == 138 ? 2 : 1);
		} else {
			fields[i].result = NOT_SUPPORTED;
		}
	}
	return OK;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, struct process *processes);
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, struct process *processes)
{
	const char *path = getenv("GPU_DOUBLE_PIDS");
	FILE *f = path ? fopen(path, "r") : NULL;
	unsigned found = 0, pid;

	while (f && found < *count && fscanf(f, "%u", &pid) == 1)
		processes[found++] = (struct process){ pid, 1000000ull * (number(device) + 1), 0, 0 };
	if (f)
		fclose(f);
	*count = found;
	return OK;
}

int nvmlDeviceGetMigMode(void *device, unsigned *current, unsigned *pending);
int nvmlDeviceGetMigMode(void *device, unsigned *current, unsigned *pending)
{
	*current = *pending = number(device) == 1;
	return OK;
}

int nvmlDeviceGetCudaComputeCapability(void *device, int *major, int *minor);
int nvmlDeviceGetCudaComputeCapability(void *device, int *major, int *minor)
{
	*major = 9;
	*minor = 0;
	return OK;
}

int nvmlDeviceGetNvLinkState(void *device, unsigned link, int *active);
int nvmlDeviceGetNvLinkState(void *device, unsigned link, int *active)
{
	*active = link != 2;
	return told("links", 0) && number(device) == 0 && link < 4 ? OK : NOT_SUPPORTED;
}

/* The host can be reached over the last alone. */
int nvmlDeviceGetNvLinkCapability(void *device, unsigned link, int capability, unsigned *value);
int nvmlDeviceGetNvLinkCapability(void *device, unsigned link, int capability, unsigned *value)
{
	*value = capability == 0 || capability == 2 || link == 3;
	return number(device) == 0 ? OK : NOT_SUPPORTED;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(void *device, unsigned link, int *type);
int nvmlDeviceGetNvLinkRemoteDeviceType(void *device, unsigned link, int *type)
{
	*type = link == 3 ? 2 : 0;
	return number(device) == 0 ? OK : NOT_SUPPORTED;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, unsigned link, struct pci *pci);
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, unsigned link, struct pci *pci)
{
	memset(pci, 0, sizeof(*pci));
	pci->bus = link == 3 ? 0x90 : (unsigned)told("bus", 6) + 1;
	return number(device) == 0 ? OK : NOT_SUPPORTED;
}
