/* An error of SQL: what is wrong, the line with a mark below the place, and what may have been meant. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/nearest.h"
#include "cli/sql/shell.h"

#define NO_TABLE "no such table: "
#define MOST_BEFORE 60 /* bytes of a long line shown before the place, and behind it */
#define MOST_BEHIND 40

static int is_error_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static int is_inside_character(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* The line of the text in which `at` is, or what is near it; a mark below. */
static void show_place(FILE *out, const char *text, size_t at, unsigned line_number)
{
	size_t first = at, end = at, column = 0;

	while (first > 0 && text[first - 1] != '\n' && at - first < MOST_BEFORE)
		first--;
	while (is_inside_character(text[first]))
		first++;
	while (text[end] && text[end] != '\n' && end - at < MOST_BEHIND)
		end++;
	while (is_inside_character(text[end]))
		end++;
	if (line_number)
		fprintf(out, "line %u:\n", line_number);
	fputs("  ", out);
	for (size_t i = first; i < end; i++) {
		fputc((unsigned char)text[i] < ' ' ? ' ' : text[i], out);
		column += i < at && !is_inside_character(text[i]);
	}
	fprintf(out, "\n  %*s^\n", (int)column, "");
}

static void offer_listed(struct sql_shell *shell, const char *sql, struct nearest *nearest)
{
	sqlite3_stmt *statement;
	const char *name;

	if (query_prepare(shell->query, sql, &statement, NULL) == SQLITE_OK)
		while (sqlite3_step(statement) == SQLITE_ROW) {
			name = (const char *)sqlite3_column_text(statement, 0);
			if (name)
				nearest_offer(nearest, name, strlen(name));
		}
	sqlite3_finalize(statement);
}

static void offer_tables(struct sql_shell *shell, struct nearest *nearest)
{
	const char *name;

	offer_listed(shell, "SELECT name FROM sqlite_master", nearest);
	for (unsigned i = 0; (name = query_native_name(shell->query, i)) != NULL; i++)
		nearest_offer(nearest, name, strlen(name));
	offer_listed(shell, "SELECT name FROM sqlite_temp_master WHERE name NOT LIKE 'sonde%'", nearest);
}

static void hint_table(struct sql_shell *shell, const char *name)
{
	struct nearest nearest;
	char hint[160] = "";

	/* Those without rows are not in main, but in temp. */
	if (strncmp(name, "main.", 5) == 0)
		name += 5;
	nearest_begin(&nearest, name);
	offer_tables(shell, &nearest);
	nearest_hint(&nearest, "", hint, sizeof(hint));
	if (sqlite3_table_column_metadata(query_db(shell->query), "temp", name, NULL, NULL, NULL, NULL, NULL, NULL) == SQLITE_OK)
		fprintf(shell->cli->err, "The report has no data for %s.\n", name);
	else
		fprintf(shell->cli->err, "%s\n",
			*hint ? hint + 1 :
				"'.tables' lists the tables, and so does SELECT name FROM "
				"sqlite_master");
}

/* SQLite does not say where a table that is not there was named. */
static int find_word(const char *text, const char *word)
{
	size_t len = strlen(word);
	const char *found = text;

	if (strncmp(word, "main.", 5) == 0) {
		word += 5;
		len -= 5;
	}
	while ((found = strcasestr(found, word)) != NULL) {
		if ((found == text || !is_error_word_char(found[-1])) && !is_error_word_char(found[len]))
			return (int)(found - text);
		found++;
	}
	return -1;
}

int sql_shell_show_error(struct sql_shell *shell, const char *text)
{
	int at = sqlite3_error_offset(query_db(shell->query));
	char *message = strdup(sqlite3_errmsg(query_db(shell->query)));
	unsigned line = shell->text_line;
	int status = sql_shell_fail(shell, message ? message : "Not enough memory");
	const char *table = message && strncmp(message, NO_TABLE, strlen(NO_TABLE)) == 0 ? message + strlen(NO_TABLE) : NULL;

	if (at < 0 && table)
		at = find_word(text, table);
	if (at >= 0 && (size_t)at <= strlen(text)) {
		for (int i = 0; line && i < at; i++)
			line += text[i] == '\n';
		show_place(shell->cli->err, text, (size_t)at, line);
	}
	if (table)
		hint_table(shell, table);
	free(message);
	return status;
}
