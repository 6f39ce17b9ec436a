/* Folders with sections, sets, rules and words of users' own. */
#ifndef SONDE_CLI_KERNEL_SECTION_FOLDERS_H
#define SONDE_CLI_KERNEL_SECTION_FOLDERS_H

#include "base/error.h"
#include "cli/command.h"
#include "cli/arguments/string_list.h"
#include "export/export.h"

/* Those given, and all folders below the deep ones, in their order. -ENOMEM. */
int section_folders_add(struct string_list *ret, const struct option_texts *given, const struct option_texts *deep);
/* Whether all that is in them can be read; else a sentence with file and line. */
int section_folders_check(const struct string_list *folders, struct error *err);
/* Their files, for a page that has no folders: called FOLDER/NAME, where folders are numbers from 0 on. */
int section_folders_read(const struct string_list *folders, struct export_text **ret, size_t *ret_count, struct error *err);
void section_files_release(struct export_text *files, size_t count);

#endif
