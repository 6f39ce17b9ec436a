/* CUPTI's callbacks: numbers and layouts that are used. Compared with a toolkit's headers by tests/unit/vendor. */
#ifndef SONDE_VENDOR_CUPTI_CALLBACKS_H
#define SONDE_VENDOR_CUPTI_CALLBACKS_H

#include <stddef.h>
#include <stdint.h>

enum cupti_domain { CUPTI_DOMAIN_DRIVER = 1, CUPTI_DOMAIN_RUNTIME = 2, CUPTI_DOMAIN_RESOURCE = 3 };

enum { CUPTI_SITE_ENTER = 0, CUPTI_SITE_EXIT = 1 };

enum cupti_resource {
	CUPTI_CONTEXT_CREATED = 1,
	CUPTI_CONTEXT_DESTROY = 2,
	CUPTI_STREAM_CREATED = 3,
	CUPTI_DRIVER_READY = 5,
	CUPTI_MODULE_LOADED = 6,
	CUPTI_MODULE_UNLOAD = 7,
	CUPTI_GRAPH_CREATED = 9,
	CUPTI_GRAPH_DESTROY = 10,
	CUPTI_GRAPH_CLONED = 11,
	CUPTI_GRAPH_NODE_CREATED = 13,
	CUPTI_GRAPH_EXEC_CREATED = 18,
	CUPTI_GRAPH_EXEC_DESTROY = 19,
	CUPTI_GRAPH_NODE_CLONED = 20
};

/* Of the domains of the driver and the runtime. */
struct cupti_call_data {
	uint32_t site;
	const char *name;
	const void *parameters;
	void *result;
	const char *symbol;
	void *context;
	uint32_t context_id;
	uint64_t *kept; /* a word that is the same at entry and exit */
	uint32_t correlation;
};

struct cupti_resource_data {
	void *context;
	void *stream;
	const void *descriptor;
};

struct cupti_module_data {
	uint32_t module;
	size_t size;
	const char *cubin;
};

struct cupti_graph_data {
	void *graph;
	void *original_graph;
	void *node;
	void *original_node;
	uint32_t node_type;
	void *dependency;
	void *exec;
};

#endif
