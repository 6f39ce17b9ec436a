/* Numbers of the columns of fmt/nsys_work.def behind those that all work has; no guard: included for each table. */
#define TIMES(...)
#define MOMENT(...)
#define PLACE(...)
#define SAME(name, type, convert, TARGET) AT_##TARGET,
#define SAME_KEY(name, type, convert, TARGET) AT_##TARGET,
#define LAUNCHED(name, type, FIELD) AT_CUDA_LAUNCH_##FIELD,
#define TAKEN(name, type, cell, import) AT_##import,
#define TAKEN_KEY(name, type, cell, import) AT_##import,
#define LEFT(...)
#define OURS(...)
#define OURS_OF_WORK(...)
#include "fmt/nsys_work.def"
