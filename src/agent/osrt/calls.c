/* The wrappers made from osrt_calls.def. */
#include "agent/osrt/osrt.h"
#include "agent/osrt/shapes.h"

#define OSRT_WRAPPER(function, which, number_, result_, arguments_, file_) \
	OSRT_TYPE_##result_ function OSRT_PARAMETERS_##arguments_ \
	{ \
		OSRT_TYPE_##result_(*real) \
			OSRT_PARAMETERS_##arguments_ = (OSRT_TYPE_##result_(*) OSRT_PARAMETERS_##arguments_)osrt_pick(which); \
		struct osrt_frame frame; \
\
		if (agent_unlikely(!osrt_on())) \
			return real OSRT_ARGUMENTS_##arguments_; \
		{ \
			const long list[] = OSRT_LIST_##arguments_; \
\
			osrt_begin(&frame, number_); \
			if (osrt_files(OSRT_FILE_##file_)) \
				osrt_file_before(&frame, OSRT_FILE_##file_, list); \
			OSRT_KEEP_##result_ real OSRT_ARGUMENTS_##arguments_; \
			osrt_end(&frame, OSRT_RESULT_##result_, OSRT_FILE_##file_, OSRT_FILE_##file_ == OSRT_FILE_NONE ? NULL : list); \
			OSRT_RETURN_##result_; \
		} \
	}

/* The C names are ours, the symbols libc's: no header has an opinion about them. */
#define OSRT_CALL(class, name, result, arguments, file) \
	AGENT_EXPORT OSRT_TYPE_##result osrt_call_##name OSRT_PARAMETERS_##arguments __asm__(#name); \
	OSRT_WRAPPER(osrt_call_##name, OSRT_REAL_##name, OSRT_##name, result, arguments, file)
#define OSRT_ALIAS(name, symbol, result, arguments, file) \
	AGENT_EXPORT OSRT_TYPE_##result osrt_call_##symbol OSRT_PARAMETERS_##arguments __asm__(#symbol); \
	OSRT_WRAPPER(osrt_call_##symbol, OSRT_REAL_##symbol, OSRT_##name, result, arguments, file)
/* Programs bind to the version they were linked with; each goes to its own. */
#define OSRT_VERSIONS(class, name, result, arguments, version, old) \
	AGENT_EXPORT OSRT_TYPE_##result osrt_new_##name OSRT_PARAMETERS_##arguments; \
	__asm__(".symver osrt_new_" #name "," #name "@@" version); \
	OSRT_WRAPPER(osrt_new_##name, OSRT_REAL_##name, OSRT_##name, result, arguments, NONE) \
	AGENT_EXPORT OSRT_TYPE_##result osrt_old_##name OSRT_PARAMETERS_##arguments; \
	__asm__(".symver osrt_old_" #name "," #name "@" old); \
	OSRT_WRAPPER(osrt_old_##name, OSRT_REAL_OLD_##name, OSRT_##name, result, arguments, NONE)
#include "fmt/osrt_calls.def"
