/* One program, written once with annotate.h and once with NVIDIA's own headers. */
#ifndef TEST_ANNOTATE_SCENARIO_H
#define TEST_ANNOTATE_SCENARIO_H

#ifdef __cplusplus
extern "C"
#endif
	void
	scenario(void);

#endif
