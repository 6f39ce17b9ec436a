/* What columns of fmt/nsys_work.def are as struct nsys_column; no guard: included for each table. */
#define TIMES(TABLE) OTHER("start"), OTHER("end"),
#define MOMENT(name, type, cell) OTHER(name), OTHER("no end"),
#define PLACE(...) \
	OTHER("deviceId"), OTHER("contextId"), OTHER("greenContextId"), OTHER("streamId"), OTHER("correlationId"), OTHER("globalPid"),
#define SAME(name, type, convert, TARGET) { name, NSYS_NUMBER, COLUMN_##TARGET, 0 },
#define SAME_KEY(name, type, convert, TARGET) { name, NSYS_NUMBER, COLUMN_##TARGET, 0 },
#define LAUNCHED(name, type, FIELD) { name, NSYS_NUMBER, COLUMN_CUDA_LAUNCH_##FIELD, 0 },
#define TAKEN(name, type, cell, import) { name, TAKEN_AS_##import },
#define TAKEN_KEY(name, type, cell, import) { name, TAKEN_AS_##import },
#define LEFT(...)
#define OURS(...)
#define OURS_OF_WORK(...)
#include "fmt/nsys_work.def"
