/* --command-file: options from files, put before those of the command line. */
#ifndef SONDE_CLI_ARGUMENTS_COMMAND_FILE_H
#define SONDE_CLI_ARGUMENTS_COMMAND_FILE_H

#include "base/error.h"
#include "cli/arguments/string_list.h"

/* Appends the file's words: separated by white space, quoted as in a shell ('...',
 * "...", \x), '#' at the start of a word begins a comment. */
int command_file_read(const char *path, struct string_list *words, struct error *err);
int command_file_split(const char *text, struct string_list *words, struct error *err);

#endif
