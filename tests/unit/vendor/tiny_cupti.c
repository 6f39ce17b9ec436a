/* As much of CUPTI as loading it looks at: -DVERSION=N, -DLACKING for one function less. */
#include <stdint.h>

#include "vendor/cupti/cupti.h"

#define CUPTI_FUNCTION(needed, name, parameters) int name parameters;
#include "vendor/cupti/functions.def"
#undef CUPTI_FUNCTION

int cuptiGetVersion(uint32_t *version)
{
	*version = VERSION;
	return VERSION ? 0 : 999;
}

/* clang-format off */
#define NOTHING(name, ...) int name(__VA_ARGS__) { return 0; }
/* clang-format on */
NOTHING(cuptiGetResultString, int result, const char **text)
NOTHING(cuptiSubscribe, void **subscriber, cupti_callback *callback, void *user)
NOTHING(cuptiUnsubscribe, void *subscriber)
NOTHING(cuptiEnableCallback, uint32_t enable, void *subscriber, int domain, uint32_t id)
NOTHING(cuptiEnableDomain, uint32_t enable, void *subscriber, int domain)
NOTHING(cuptiGetCallbackName, int domain, uint32_t id, const char **name)
NOTHING(cuptiActivityRegisterCallbacks, cupti_buffer_requested *requested, cupti_buffer_completed *completed)
NOTHING(cuptiActivityEnable, int kind)
NOTHING(cuptiActivityDisable, int kind)
NOTHING(cuptiActivityGetNextRecord, uint8_t *buffer, size_t valid, struct cupti_record **record)
NOTHING(cuptiActivityGetNumDroppedRecords, void *context, uint32_t stream, size_t *dropped)
#ifndef LACKING
NOTHING(cuptiActivityFlushAll, uint32_t flag)
#endif
NOTHING(cuptiGetTimestamp, uint64_t *time)
