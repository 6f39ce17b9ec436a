/* CUPTI's functions, as far as Sonde uses them, without CUDA: behaves as the script says and tells the log. */
#include <stdlib.h>
#include <string.h>

#include "double.h"

#define CUPTI_FUNCTION(needed, name, parameters) int name parameters;
#include "vendor/cupti/functions.def"
#undef CUPTI_FUNCTION
int cuptiActivityEnableContext(void *context, int kind);

enum { INVALID_PARAMETER = 1, INVALID_OPERATION = 7 };

struct cupti_double cupti_double = { .lock = PTHREAD_MUTEX_INITIALIZER };

__attribute__((constructor)) static void begin(void)
{
	double_settings_read();
}

int cuptiGetVersion(uint32_t *version)
{
	*version = cupti_double.settings.version;
	return double_called("cuptiGetVersion", "%u", *version);
}

int cuptiGetResultString(int result, const char **text)
{
	*text = result == CUPTI_OK                      ? "CUPTI_SUCCESS" :
		result == CUPTI_INSUFFICIENT_PRIVILEGES ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" :
		result == CUPTI_MULTIPLE_SUBSCRIBERS    ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED" :
							  "CUPTI_ERROR_OF_THE_DOUBLE";
	return CUPTI_OK;
}

int cuptiGetErrorMessage(int result, const char **text)
{
	*text = result == CUPTI_INSUFFICIENT_PRIVILEGES ? "the user does not have sufficient privileges" :
		result == CUPTI_MULTIPLE_SUBSCRIBERS    ? "multiple subscribers are not supported" :
							  "what the script says";
	return CUPTI_OK;
}

static int subscribe(const char *function, void **subscriber, cupti_callback *callback, void *user)
{
	int result = double_called(function, " ");

	if (result == CUPTI_OK && (cupti_double.client.callback || cupti_double.settings.holder[0])) {
		double_log("%s: somebody holds it already", function);
		result = CUPTI_MULTIPLE_SUBSCRIBERS;
	}
	if (result != CUPTI_OK)
		return result;
	cupti_double.client.callback = callback;
	cupti_double.client.user = user;
	double_thread_enters();
	double_thread_leaves();
	*subscriber = &cupti_double.client;
	return CUPTI_OK;
}

int cuptiSubscribe(void **subscriber, cupti_callback *callback, void *user)
{
	return subscribe("cuptiSubscribe", subscriber, callback, user);
}

struct subscriber_parameters {
	size_t size;
	const char *name;
	char *old_name;
	size_t old_size;
};

int cuptiSubscribe_v2(void **subscriber, cupti_callback *callback, void *user, void *parameters)
{
	struct subscriber_parameters *p = parameters;
	int result = subscribe("cuptiSubscribe_v2", subscriber, callback, user);

	if (result == CUPTI_MULTIPLE_SUBSCRIBERS && p && p->old_name && p->old_size) {
		strncpy(p->old_name, cupti_double.settings.holder, p->old_size - 1);
		p->old_name[p->old_size - 1] = '\0';
	}
	return result;
}

int cuptiUnsubscribe(void *subscriber)
{
	int result = double_called("cuptiUnsubscribe", " ");

	if (result != CUPTI_OK)
		return result;
	if (subscriber != &cupti_double.client || !cupti_double.client.callback)
		return INVALID_PARAMETER;
	cupti_double.client.callback = NULL;
	memset(cupti_double.client.callbacks, 0, sizeof(cupti_double.client.callbacks));
	return CUPTI_OK;
}

int cuptiEnableCallback(uint32_t enable, void *subscriber, int domain, uint32_t id)
{
	int result = double_called("cuptiEnableCallback", "%u domain %d id %u", enable, domain, id);

	if (result == CUPTI_OK && (domain <= 0 || domain >= DOMAIN_COUNT || id >= CALL_COUNT || subscriber != &cupti_double.client))
		result = INVALID_PARAMETER;
	if (result == CUPTI_OK)
		cupti_double.client.callbacks[domain][id] = enable != 0;
	return result;
}

int cuptiEnableDomain(uint32_t enable, void *subscriber, int domain)
{
	int result = double_called("cuptiEnableDomain", "%u domain %d", enable, domain);

	if (result == CUPTI_OK && (domain <= 0 || domain >= DOMAIN_COUNT || subscriber != &cupti_double.client))
		result = INVALID_PARAMETER;
	for (uint32_t id = 0; result == CUPTI_OK && id < CALL_COUNT; id++)
		cupti_double.client.callbacks[domain][id] = enable != 0;
	return result;
}

int cuptiGetCallbackName(int domain, uint32_t id, const char **name)
{
	const struct call_name *call = double_call(domain, id);

	if (!call)
		return INVALID_PARAMETER;
	*name = call->name;
	return CUPTI_OK;
}

int cuptiActivityRegisterCallbacks(cupti_buffer_requested *requested, cupti_buffer_completed *completed)
{
	int result = double_called("cuptiActivityRegisterCallbacks", " ");

	if (result != CUPTI_OK)
		return result;
	/* Buffers belong to whoever gave them. */
	if (cupti_double.client.completed)
		double_flush(true);
	cupti_double.client.requested = requested;
	cupti_double.client.completed = completed;
	double_workers_start();
	return CUPTI_OK;
}

static bool kind_known(int kind)
{
	if (kind == 52)
		return cupti_double.settings.version >= 19;
	if (kind == 53 || kind == 54)
		return cupti_double.settings.version >= 26;
	return kind > 0 && kind < 53;
}

static void set_calls(int kind, bool on)
{
	if (kind == RECORD_KIND_DRIVER || kind == RECORD_KIND_RUNTIME)
		memset(cupti_double.client.calls[kind == RECORD_KIND_RUNTIME], on, CALL_COUNT);
}

int cuptiActivityEnable(int kind)
{
	int result = double_called("cuptiActivityEnable", "%d", kind);

	if (result == CUPTI_OK && !kind_known(kind))
		result = CUPTI_INVALID_KIND;
	if (result != CUPTI_OK)
		return result;
	cupti_double.client.kinds[kind] = true;
	set_calls(kind, true);
	return CUPTI_OK;
}

int cuptiActivityEnableContext(void *context, int kind)
{
	return cuptiActivityEnable(kind);
}

int cuptiActivityDisable(int kind)
{
	int result = double_called("cuptiActivityDisable", "%d", kind);

	if (result == CUPTI_OK && !kind_known(kind))
		result = CUPTI_INVALID_KIND;
	if (result != CUPTI_OK)
		return result;
	cupti_double.client.kinds[kind] = false;
	set_calls(kind, false);
	return CUPTI_OK;
}

/* The driver was initialised before: by the script, or before this library was loaded (late_driver.c). */
static bool late(void)
{
	return cupti_double.cuda_ready || getenv("LATE_AGENT");
}

static int enable_call(const char *function, int class, uint32_t id, uint8_t enable)
{
	int result = double_called(function, "%u %u", id, enable);

	if (result == CUPTI_OK && id >= CALL_COUNT)
		result = INVALID_PARAMETER;
	/* One that comes late records chosen calls only where their kind is enabled; nobody is told. */
	if (result == CUPTI_OK && (!enable || !late() || cupti_double.client.kinds[class ? RECORD_KIND_RUNTIME : RECORD_KIND_DRIVER]))
		cupti_double.client.calls[class][id] = enable;
	return result;
}

int cuptiActivityEnableDriverApi(uint32_t id, uint8_t enable)
{
	return enable_call("cuptiActivityEnableDriverApi", 0, id, enable);
}

int cuptiActivityEnableRuntimeApi(uint32_t id, uint8_t enable)
{
	return enable_call("cuptiActivityEnableRuntimeApi", 1, id, enable);
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, struct cupti_record **record)
{
	uint8_t *next = *record ? (uint8_t *)*record : buffer;

	if (*record) {
		size_t size = double_record_size(*(const uint32_t *)next);

		if (!size)
			return CUPTI_INVALID_KIND;
		next += size;
	}
	if (!buffer || next >= buffer + valid)
		return CUPTI_MAX_LIMIT_REACHED;
	*record = (struct cupti_record *)next;
	return CUPTI_OK;
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped)
{
	double_sleep_ms(cupti_double.settings.deliver_ms);
	*dropped = double_dropped();
	return CUPTI_OK;
}

int cuptiActivityFlushAll(uint32_t flag)
{
	int result = double_called("cuptiActivityFlushAll", "%u", flag);

	if (result == CUPTI_OK && !cupti_double.client.completed)
		result = INVALID_OPERATION;
	if (result == CUPTI_OK) {
		double_sleep_ms(cupti_double.settings.flush_ms);
		double_flush(flag & 1);
	}
	return result;
}

int cuptiGetTimestamp(uint64_t *time)
{
	*time = double_stamp();
	return CUPTI_OK;
}

int cuptiActivitySetAttribute(int attribute, size_t *size, void *value)
{
	return double_called("cuptiActivitySetAttribute", "%d", attribute);
}

int cuptiActivityRegisterTimestampCallback(uint64_t (*stamp)(void))
{
	int result = double_called("cuptiActivityRegisterTimestampCallback", " ");

	if (result == CUPTI_OK && !stamp)
		result = INVALID_PARAMETER;
	if (result == CUPTI_OK) {
		__atomic_store_n(&cupti_double.client.stamp, stamp, __ATOMIC_RELEASE);
		double_streams_forget();
	}
	return result;
}

int cuptiSetThreadIdType(int type)
{
	int result = double_called("cuptiSetThreadIdType", "%d", type);

	if (result == CUPTI_OK)
		cupti_double.client.system_tids = type == 1;
	return result;
}

int cuptiActivityEnableLatencyTimestamps(uint8_t enable)
{
	int result = double_called("cuptiActivityEnableLatencyTimestamps", "%u", enable);

	if (result == CUPTI_OK)
		cupti_double.client.latencies = enable;
	return result;
}

int cuptiActivityEnableLaunchAttributes(uint8_t enable)
{
	return double_called("cuptiActivityEnableLaunchAttributes", "%u", enable);
}

int cuptiActivityEnableCudaEventDeviceTimestamps(uint8_t enable)
{
	int result = double_called("cuptiActivityEnableCudaEventDeviceTimestamps", "%u", enable);

	if (result == CUPTI_OK)
		cupti_double.client.event_times = enable;
	return result;
}

int cuptiActivityEnableAllSyncRecords(uint8_t enable)
{
	return double_called("cuptiActivityEnableAllSyncRecords", "%u", enable);
}

int cuptiActivityEnableDeviceGraph(uint8_t enable)
{
	return double_called("cuptiActivityEnableDeviceGraph", "%u", enable);
}

int cuptiActivityConfigureUnifiedMemoryCounter(void *config, uint32_t count)
{
	return double_called("cuptiActivityConfigureUnifiedMemoryCounter", "%u", count);
}

int cuptiFinalize(void)
{
	int result = double_called("cuptiFinalize", " ");

	if (result != CUPTI_OK)
		return result;
	double_finalize_begin();
	double_flush(true);
	memset(&cupti_double.client, 0, sizeof(cupti_double.client));
	double_streams_forget();
	cupti_double.correlation = 0;
	double_finalize_end();
	return CUPTI_OK;
}
