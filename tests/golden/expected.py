#!/usr/bin/env python3
"""Computes the expected tables of the golden tests from recording.txt, cpu.txt and cuda.txt, by itself:
nothing here comes from Sonde's own code or output.

Usage: expected.py [--check] FOLDER
writes (or compares) FOLDER/*.golden: the command line, then what it must print.
"""
import json
import os
import re
import statistics
import sys

import cpu_expected
import cuda_expected
import filters_expected

HERE = os.path.dirname(os.path.abspath(__file__))
PUSH_POP, START_END = 1, 2


def read_rows(name):
    tables = {}
    for line in open(os.path.join(HERE, name)):
        if line.startswith("#") or not line.strip():
            continue
        table, track, rest = line.split(None, 2)
        row = {"track": int(track)}
        for key, text, raw in re.findall(r'(\w+)=(?:"((?:[^"\\]|\\.)*)"|(\S+))', rest):
            row[key] = re.sub(r"\\(.)", r"\1", text) if raw == "" else raw
        for key, value in row.items():
            if isinstance(value, str) and re.fullmatch(r"-?\d+", value) and key not in ("name", "value", "text", "path"):
                row[key] = int(value)
        tables.setdefault(table, []).append(row)
    return tables


TABLES = read_rows("recording.txt")
TRACKS = {t["id"]: t for t in TABLES["track"]}
DOMAINS = {d["uid"]: d["name"] for d in TABLES["nvtx_domain"] if "name" in d}
PIDS = {p["uid"]: p["pid"] for p in TABLES["process"]}
TIDS = {t["uid"]: t["tid"] for t in TABLES["thread"]}


def ranges(kinds):
    """Ranges with an end, as (kind, full name, start, end, track)."""
    for s in TABLES["slice"]:
        track = TRACKS[s["track"]]
        if track["kind"] in kinds and not s["flags"] & 1:
            yield track["kind"], DOMAINS.get(track["domain"], "") + ":" + s["name"], s["start"], s["end"], track


def summary(kinds, by_kind):
    groups = {}
    for kind, name, start, end, _ in ranges(kinds):
        groups.setdefault((kind if by_kind else 0, name), []).append(end - start)
    total = sum(sum(v) for v in groups.values())
    rows = []
    for (kind, name), v in groups.items():
        row = [100.0 * sum(v) / total, sum(v), len(v), sum(v) / len(v), float(statistics.median(v)), min(v), max(v),
               statistics.stdev(v) if len(v) > 1 else 0.0]
        if by_kind:
            row.append("PushPop" if kind == PUSH_POP else "StartEnd")
        rows.append(row + [name])
    return sorted(rows, key=lambda r: -r[1])


STAT = ["Time (%)", "Total Time (ns)", "Instances", "Avg (ns)", "Med (ns)", "Min (ns)", "Max (ns)", "StdDev (ns)"]


def shown(value, separators=False):
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.1f}" if separators else f"{value:.1f}"
    if isinstance(value, int):
        return f"{value:,}" if separators else str(value)
    return value


def quoted(text):
    return '"' + text.replace('"', '""') + '"' if re.search('[,"\n\r]', text) else text


def csv(titles, rows):
    return "".join(",".join(quoted(shown(v)) for v in row) + "\n" for row in [titles] + rows)


def column(titles, rows, box=False):
    cells = [[shown(v, True) for v in row] for row in rows]
    widths = [max(len(r[i]) for r in [titles] + cells) for i in range(len(titles))]
    number = [all(not isinstance(r[i], str) for r in rows) for i in range(len(titles))]
    first, between, last = ("| ", " | ", " |") if box else (" ", "  ", "")
    rule = ("+-" + "-+-".join("-" * w for w in widths) + "-+\n") if box else \
        " " + "  ".join("-" * w for w in widths) + "\n"
    lines = [first + between.join(t.center(w) for t, w in zip(titles, widths)) + last + "\n", rule]
    for r in cells:
        lines.append(first + between.join(c.rjust(w) if n else c.ljust(w)
                                          for c, w, n in zip(r, widths, number)) + last + "\n")
    return (rule if box else "") + "".join(lines) + (rule if box else "")


def as_json(titles, rows):
    lines = []
    for row in rows:
        fields = []
        for title, value in zip(titles, row):
            text = shown(value) if isinstance(value, (int, float)) else json.dumps(value, ensure_ascii=False)
            fields.append(json.dumps(title) + ":" + text)
        lines.append("{" + ",".join(fields) + "}")
    return "[" + ("\n" + ",\n".join(lines) + "\n" if lines else "") + "]\n"


def trace():
    """Nesting found from times alone, per thread and domain."""
    every = []
    for s in TABLES["slice"]:
        track = TRACKS[s["track"]]
        if track["kind"] == PUSH_POP:
            every.append({"s": s["start"], "e": s["end"], "open": s["flags"] & 1, "track": track,
                          "name": DOMAINS.get(track["domain"], "") + ":" + s["name"]})
    every.sort(key=lambda r: (r["s"], r["track"]["process"], r["track"]["thread"], r["track"]["domain"],
                              r["track"]["depth"]))
    rows = []
    for number, r in enumerate(every, 1):
        r["id"] = number
        stack = [o for o in every[:number - 1]
                 if o["track"]["thread"] == r["track"]["thread"] and o["track"]["domain"] == r["track"]["domain"]
                 and o["s"] <= r["s"] and r["e"] <= o["e"]]
        r["parents"] = [o["id"] for o in stack]
    for r in every:
        children = [c for c in every if c["parents"] and c["parents"][-1] == r["id"]]
        inside = sum(c["e"] - c["s"] for c in children)
        length = None if r["open"] else r["e"] - r["s"]
        level = len(r["parents"])
        rows.append([r["s"], None if r["open"] else r["e"], length, inside, None if r["open"] else length - inside,
                     r["name"], PIDS[r["track"]["process"]], TIDS[r["track"]["thread"]], level, len(children),
                     r["id"], r["parents"][-1] if level else None,
                     "".join(f":{i}" for i in r["parents"] + [r["id"]]), "--" * level + r["name"]])
    return rows


TRACE = ["Start (ns)", "End (ns)", "Duration (ns)", "DurChild (ns)", "DurNonChild (ns)", "Name", "PID", "TID", "Lvl",
         "NumChild", "RangeId", "ParentId", "RangeStack", "NameTree"]

NOTE = "NOTE: 1 range never ended; not counted.\n"


def golden():
    both = summary((PUSH_POP, START_END), True)
    titles = STAT + ["Style", "Range"]
    heading = " ** NVTX Range Summary (nvtx_sum):\n\n"
    yield "nvtx_sum_csv", "stats -q -r nvtx_sum -f csv REPORT", csv(titles, both)
    yield "nvtx_sum_csv_nohdr", "stats -q -r nvtxsum --format=csv:nohdr REPORT", csv(titles, both).split("\n", 1)[1]
    yield "nvtx_sum_column", "stats -q -r nvtx_sum REPORT", heading + column(titles, both) + "\n"
    yield "nvtx_sum_table", "stats -q --report nvtx_sum -f table REPORT", heading + column(titles, both, True) + "\n"
    yield "nvtx_sum_json", "stats -q -r nvtx_sum -f json REPORT", as_json(titles, both)
    yield "nvtx_sum_tsv", "stats -q -r nvtx_sum -f tsv REPORT", \
        "".join("\t".join(shown(v) for v in row) + "\n" for row in [titles] + both)
    micro = [[r[0], r[1] / 1e3, r[2], r[3] / 1e3, r[4] / 1e3, r[5] / 1e3, r[6] / 1e3, r[7] / 1e3] + r[8:] for r in both]
    yield "nvtx_sum_usec", "stats -q -r nvtx_sum -f csv --timeunit=us REPORT", \
        csv([t.replace("(ns)", "(us)") for t in titles],
            [[r[0], f"{r[1]:.3f}", r[2]] + [f"{v:.3f}" for v in r[3:8]] + r[8:] for r in micro])
    yield "nvtx_pushpop_sum", "stats -q -r nvtx_pushpop_sum -f csv REPORT", csv(STAT + ["Range"], summary((PUSH_POP,), False))
    yield "nvtx_startend_sum", "stats -q -r nvtxsesum -f csv REPORT", csv(STAT + ["Range"], summary((START_END,), False))
    yield "nvtx_pushpop_trace", "stats -q -r nvtx_pushpop_trace -f csv REPORT", csv(TRACE, trace())
    yield "notes", "stats -r nvtx_sum -f csv:nohdr REPORT", \
        csv(titles, both).split("\n", 1)[1] + \
        "[remarks]\nProcessing [REPORT] with [REPORTS/nvtx_sum.sql]...\n\n" + NOTE
    yield "console", "stats -r nvtx_startend_sum REPORT", \
        "Processing [REPORT] with [REPORTS/nvtx_startend_sum.sql]...\n\n ** NVTX Start/End Range Summary " \
        "(nvtx_startend_sum):\n\n" + column(STAT + ["Range"], summary((START_END,), False)) + "\n"
    yield "two_formats", "stats -q -r nvtx_startend_sum,nvtx_startend_sum,nvtx_startend_sum -f json,csv:nohdr REPORT", \
        as_json(STAT + ["Range"], summary((START_END,), False)) + \
        2 * csv(STAT + ["Range"], summary((START_END,), False)).split("\n", 1)[1]
    lost = sum(l["count"] for l in TABLES["loss"])
    yield "diagnostics", "stats -q -r diagnostics -f csv REPORT", \
        csv(["Time (ns)", "Severity", "Source", "PID", "Message"],
            [[3000, "Info", "recorder", 1000, "1 range never ended; not counted in summaries"],
             [4000, "Warning", "recorder", 2000, "The program <x> & co was not traced"],
             [4600, "Warning", "recorder", 1000, f"{lost} events lost: the buffers were full. Record less: -t, --osrt-threshold"]])
    yield "unknown_report", "stats -r nvtx_summ REPORT", \
        "[remarks]\nsonde stats: Unknown report 'nvtx_summ'. Did you mean nvtx_sum?\n[status 1]\n"
    yield "unknown_format", "stats -r nvtx_sum -f cvs REPORT", \
        "[remarks]\nsonde stats: Unknown format 'cvs'. Did you mean csv?\n[status 1]\n"
    yield "sql_quantiles", "sql -f csv REPORT \"SELECT key, count, min, max, med FROM " \
        "group_stats('NVTX_EVENTS', 'name', 'duration', 'eventType = 59 and start < 3000') ORDER BY key\"", \
        csv(["key", "count", "min", "max", "med"], sql_quantiles())
    yield from cpu_expected.golden(read_rows("cpu.txt"), csv, column)
    yield from cuda_expected.golden(read_rows("cuda.txt"), csv, column)
    yield from filters_expected.golden(read_rows, csv, TRACE, trace())


def sql_quantiles():
    groups = {}
    for _, name, start, end, _ in ranges((PUSH_POP,)):
        if start < 3000:
            groups.setdefault(name.split(":", 1)[1], []).append(end - start)
    plain = lambda x: f"{x:.15g}"
    return [[k, len(v), min(v), max(v), plain(statistics.median(v))] for k, v in sorted(groups.items())]


def main(arguments):
    check = arguments[0] == "--check"
    folder = arguments[-1]
    wrong = 0
    for name, command, text in golden():
        path = os.path.join(folder, name + ".golden")
        if not check:
            with open(path, "w") as out:
                out.write(command + "\n" + text)
        elif not os.path.exists(path) or open(path).read() != command + "\n" + text:
            print(f"{path} is not what the recordings give")
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
