/* What columns of fmt/nsys_work.def are in SQL; no guard: included for each table. */
#define TIMES(TABLE)                                                              \
	SHOWN_AS("start", "INTEGER NOT NULL", FROM(NUMBER, COLUMN_##TABLE##_START)), \
	SHOWN_AS("end", "INTEGER NOT NULL", FROM(NUMBER, COLUMN_##TABLE##_END)),
#define MOMENT(name, type, cell) SHOWN_AS(name, type, cell),
#define PLACE(TABLE, of, green, stream, pid)                                                                             \
	SHOWN_AS("deviceId", "INTEGER NOT NULL", of(STREAM_DEVICE)), SHOWN_AS("contextId", "INTEGER NOT NULL", of(STREAM_CONTEXT)), \
	SHOWN_AS("greenContextId", "INTEGER", green), SHOWN_AS("streamId", "INTEGER NOT NULL", stream),                     \
	KEY_AS("correlationId", "INTEGER", FROM(NUMBER, COLUMN_##TABLE##_CORRELATION)), SHOWN_AS("globalPid", "INTEGER", pid),
#define SAME(name, type, convert, TARGET) SHOWN_AS(name, type, FROM(convert, COLUMN_##TARGET)),
#define SAME_KEY(name, type, convert, TARGET) KEY_AS(name, type, FROM(convert, COLUMN_##TARGET)),
#define LAUNCHED(name, type, FIELD) SHOWN_AS(name, type, LAUNCH(COLUMN_CUDA_LAUNCH_##FIELD)),
#define TAKEN(name, type, cell, import) SHOWN_AS(name, type, cell),
#define TAKEN_KEY(name, type, cell, import) KEY_AS(name, type, cell),
#define LEFT(name, type, cell) SHOWN_AS(name, type, cell),
#define OURS(name, type, short_name, cell) BEHIND_AS(name, type, short_name, cell),
#define OURS_OF_WORK(duration, track)                                                                                          \
	BEHIND_AS(duration, "INTEGER", "duration", WITH(DURATION, 1, UINT8_MAX)), BEHIND_AS(track, "INTEGER", "track", FROM(TRACK, 0)), \
	BEHIND_AS("streamUid", "INTEGER", NULL, FROM(TRACK_OBJECT, 0)), BEHIND_AS("gpuUid", "INTEGER", NULL, STREAM(STREAM_GPU)), \
	BEHIND_AS("processUid", "INTEGER", NULL, FROM(TRACK_PROCESS, 0)),
#include "fmt/nsys_work.def"
