"""Reads docs/measurements/history.csv, for tools/check_docs and tools/plot_measurements."""
import csv
import datetime
import re

COLUMNS = ("date", "commit", "machine", "area", "what", "value", "high", "unit", "limit", "verdict", "spread", "note")
WORDS = ("equal", "no change", "nothing")
VERDICTS = ("", "cannot tell", "not met")
NUMBER = re.compile(r"-?\d+(\.\d+)?")
TABLE = "| what | measured | limit | A/A spread | when |"


def is_number(text):
    return bool(NUMBER.fullmatch(text))


class Figure(dict):
    """One row: a value of one thing at one time."""

    def key(self):
        return self["machine"], self["area"], self["what"]

    def name(self):
        return ", ".join(self.key())

    def numbers(self):
        """Its value as (low, high), or None for a word."""
        ends = [float(self[end]) for end in ("value", "high") if is_number(self[end])]
        return (ends[0], ends[-1]) if ends else None


def is_date(text):
    try:
        return datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def faults(row):
    """What is wrong in a row that has all columns."""
    if not is_date(row["date"]):
        yield f"'{row['date']}' is not a date like 2026-11-15"
    if not re.fullmatch(r"([0-9a-f]{7,40})?", row["commit"]):
        yield f"'{row['commit']}' is not a commit of 7 or more digits"
    if not re.fullmatch(r"[a-z0-9-]+", row["machine"]):
        yield f"'{row['machine']}' is not a machine's name"
    if not row["area"] or not row["what"] or "|" in row["what"]:
        yield "area and what cannot be empty, and what cannot have a '|'"
    if not is_number(row["value"]) and row["value"] not in WORDS and not (row["value"] == "" and row["high"]):
        yield f"the value '{row['value']}' is neither a number nor one of: {', '.join(WORDS)}"
    if row["high"] and not is_number(row["high"]):
        yield f"the high end '{row['high']}' is not a number"
    elif row["high"] and row["value"] and not (is_number(row["value"]) and float(row["value"]) <= float(row["high"])):
        yield f"{row['value']} to {row['high']} is not a range"
    if row["verdict"] not in VERDICTS:
        yield f"the verdict '{row['verdict']}' is not one of: {', '.join(VERDICTS[1:])}"
    if row["spread"] and not is_number(row["spread"]):
        yield f"the spread '{row['spread']}' is not a number"


def faults_between(figures):
    """What is wrong in rows beside each other, as (place of the row, what)."""
    units, seen, last = {}, set(), ""
    for i, figure in enumerate(figures):
        if figure["date"] < last:
            yield i, f"{figure['date']} comes after {last}; new figures go to the end"
        last = figure["date"]
        if units.setdefault(figure.key(), figure["unit"]) != figure["unit"]:
            yield i, f"the unit is '{figure['unit']}', and '{units[figure.key()]}' in an earlier row of the same figure"
        identity = (*figure.key(), figure["date"], figure["commit"], figure["note"])
        if identity in seen:
            yield i, f"'{figure['what']}' stands twice with the same date, commit and note"
        seen.add(identity)


def read_history(path):
    """Returns the figures and a list of one line for each fault."""
    try:
        return read_rows(path)
    except OSError as error:
        return [], [f"'{path}' cannot be read: {error.strerror}"]
    except UnicodeDecodeError:
        return [], [f"{path} is not text in UTF-8"]


def read_rows(path):
    figures, wrong, lines = [], [], []
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.reader(file, strict=True)
        try:
            if tuple(next(reader, ())) != COLUMNS:
                return [], [f"{path}: the first line is not '{','.join(COLUMNS)}'"]
            for cells in reader:
                if len(cells) != len(COLUMNS):
                    wrong.append(f"{path}:{reader.line_num}: {len(cells)} columns instead of {len(COLUMNS)}")
                    continue
                row = Figure(zip(COLUMNS, cells))
                wrong += [f"{path}:{reader.line_num}: {fault}" for fault in faults(row)]
                figures.append(row)
                lines.append(reader.line_num)
        except csv.Error as error:
            return [], [f"{path}:{reader.line_num}: {error}"]
    wrong += [f"{path}:{lines[i]}: {fault}" for i, fault in faults_between(figures)]
    return figures, wrong


def newest(figures):
    """The last row of each figure; rows are in the order of time."""
    return {figure.key(): figure for figure in figures}


def show_number(text):
    """Thousands are separated from 10,000 on."""
    whole, dot, rest = text.partition(".")
    return (f"{int(whole):,}" if len(whole.lstrip("-")) > 4 else whole) + dot + rest


def show_value(figure):
    low, high, unit = figure["value"], figure["high"], figure["unit"]
    if not is_number(low) and not high:
        return low
    number = f"{show_number(low)} to {show_number(high)}" if low and high else show_number(low) if low else f"at most {show_number(high)}"
    return f"{number} {unit}".rstrip()


def show_limit(figure):
    limit = figure["limit"]
    least = limit.startswith(">=") and is_number(limit[2:])
    if least or is_number(limit):
        number = show_number(limit[2:] if least else limit)
        limit = f"{'at least ' if least else ''}{number} {figure['unit']}".rstrip()
    return ": ".join(part for part in (limit, figure["verdict"]) if part)


def show_row(figure):
    """The line of docs/measurements.md."""
    spread = f"{show_number(figure['spread'])} {figure['unit']}".rstrip() if figure["spread"] else ""
    cells = (figure["what"], show_value(figure), show_limit(figure), spread, f"{figure['date']} {figure['commit']}".rstrip())
    return "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|"


def wrong_tables(page, figures):
    """One line for each row of the page (a text) that is not the newest row of its figure."""
    current, machine, area, in_table = newest(figures), "", "", False
    machines = {key[0] for key in current}
    for number, line in enumerate(page.splitlines(), 1):
        if line.startswith("## "):
            machine, area = line[3:].partition(":")[0], ""
            machines.discard(machine)
        elif line.startswith("### "):
            area = line[4:]
        elif line == TABLE or re.fullmatch(r"\|[-|]+\|", line):
            in_table = True
        elif not line.startswith("|"):
            in_table = False
        elif not in_table:
            yield f"{number}: a table of figures begins with '{TABLE}'"
        else:
            figure = current.get((machine, area, line[2:].partition(" |")[0]))
            if not figure:
                yield f"{number}: the history has no figure of that name for {machine}, {area}"
            elif show_row(figure) != line:
                yield f"{number}: the history has: {show_row(figure)}"
    for machine in sorted(machines):
        yield f"1: no heading '## {machine}: ...'"
