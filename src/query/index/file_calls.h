/* What a function does with a file, told by its name. Values are those of
 * ENUM_OSRT_FILE_ACCESS_EVENT_TYPE. */
#ifndef SONDE_QUERY_INDEX_FILE_CALLS_H
#define SONDE_QUERY_INDEX_FILE_CALLS_H

enum file_call { FILE_CALL_OTHER = 0, FILE_CALL_OPEN = 1, FILE_CALL_CLOSE = 2, FILE_CALL_READ = 3, FILE_CALL_WRITE = 4 };

enum file_call file_call_of(const char *name);

#endif
