"""What the reports of the CPU side must print for cpu.txt: every sample's stack is written out and
looked at by itself; nothing is shared with how Sonde adds up."""
import statistics

JIT = 5
CUT = "[truncated]"
WAITS = 2
OPENS, READS, WRITES = ("open",), ("read",), ("write", "fwrite", "pwrite64")


class Recording:
    def __init__(self, tables):
        self.tables = tables
        self.modules = {m["uid"]: m for m in tables["module"]}
        self.frames = {f["id"]: f for f in tables["frame"]}
        self.stacks = {s["id"]: s for s in tables["stack"]}
        self.symbols = {s["id"]: s["name"] for s in tables["symbol"]}
        self.names = {}
        for row in tables["frame_symbol"]:
            self.names[row["frame"]] = self.symbols[row["symbol"]] if "symbol" in row else None
        self.tracks = {t["id"]: t for t in tables["track"]}
        self.threads = {t["uid"]: t for t in tables["thread"]}
        self.pids = {p["uid"]: p["pid"] for p in tables["process"]}

    def function(self, frame):
        """(name, path) of a frame."""
        row = self.frames[frame]
        module = self.modules.get(row.get("module"))
        path = module["path"] if module else None
        if self.names.get(frame):
            return self.names[frame], path
        if path == CUT:
            return path, path
        if not module or module["kind"] == JIT:
            return f"0x{row['offset']:x}", path
        return f"{path.rsplit('/', 1)[-1]}+0x{row['offset']:x}", path

    def functions(self, stack):
        """From the leaf to the root; None where there is no stack."""
        if stack not in self.stacks:
            return None
        found = []
        while stack:
            found.append(self.function(self.stacks[stack]["frame"]))
            stack = self.stacks[stack].get("parent")
        return found

    def with_call(self, stack, call):
        """What was called is a function too, the innermost."""
        functions = self.functions(stack)
        return [(call, None)] + (functions or []) if call else functions

    def samples(self):
        for s in self.tables["sample"]:
            yield self.functions(s.get("stack")), s["weight"], self.tracks[s["track"]]["thread"]

    def calls(self):
        """Calls that returned."""
        return [c for c in self.tables["osrt"] if not c["flags"] & 1]

    def waits(self):
        for track in {r["track"] for r in self.tables["run"]}:
            runs = [r for r in self.tables["run"] if r["track"] == track]
            for run, following in zip(runs, runs[1:]):
                if run["after"] == WAITS:
                    yield self.with_call(run.get("stack"), run.get("syscall")), following.get("ready", following["start"]) - run["end"], track


def by_label(samples, label_of, threads):
    self_sums, total_sums, whole = {}, {}, 0

    def add(sums, key, weight):
        sums.setdefault(key, [0, 0])
        sums[key][0] += weight
        sums[key][1] += 1

    for stack, weight, thread in samples:
        labels = [label_of(f) for f in stack] if stack else [("[no stack]", None)]
        owner = thread if threads else None
        whole += weight
        add(self_sums, (labels[0], owner), weight)
        for label in set(labels):
            add(total_sums, (label, owner), weight)
    for key, (total, count) in total_sums.items():
        if key[0][1] == CUT:
            continue
        own, own_count = self_sums.get(key, (0, 0))
        yield key, [100.0 * own / whole, own, own_count, 100.0 * total / whole, total, count]


def sample_sum(rec, kind):
    rows = []
    label_of = (lambda f: (None, f[1]) if f[1] else ("[Unknown]", None)) if kind == "module" else lambda f: f
    for ((name, path), thread), figures in by_label(rec.samples(), label_of, kind == "thread"):
        if kind == "module":
            rows.append((figures, name or "", path or "", 0, figures + [path or name]))
        elif kind == "thread":
            t = rec.threads[thread]
            rows.append((figures, name, path or "", thread,
                         figures + [name, path, rec.pids[t["process"]], t["tid"], t["name"]]))
        else:
            rows.append((figures, name, path or "", 0, figures + [name, path]))
    rows.sort(key=lambda r: (-r[0][1], -r[0][4], r[1], r[2], r[3]))
    return [r[4] for r in rows]


def folded(stacks):
    sums, whole = {}, 0
    for stack, weight, _ in stacks:
        path = tuple(reversed(stack)) if stack else (("[no stack]", None),)
        sums.setdefault(path, [0, 0])
        sums[path][0] += weight
        sums[path][1] += 1
        whole += weight
    return sums, whole


def folded_rows(stacks):
    """Rows of equal weight and count come in any order: sorted by text here and in the statement asked."""
    sums, whole = folded(stacks)
    return [[100.0 * w / whole, w, n, ";".join(f[0].replace(";", ":") for f in path)] for path, (w, n) in sums.items()]


def tree_rows(stacks, least):
    """Top down, the heaviest first; made from the folded stacks by cutting off one function after the other."""
    sums, whole = folded(stacks)

    def below(prefix):
        heads = {}
        for path, (w, n) in sums.items():
            if path[:len(prefix)] == prefix and len(path) > len(prefix):
                head = heads.setdefault(path[len(prefix)], [0, 0])
                head[0] += w
                head[1] += n
        for function, (w, n) in sorted(heads.items(), key=lambda h: (-h[1][0], -h[1][1])):
            own = sums.get(prefix + (function,), (0, 0))[0]
            if 100.0 * w / whole >= least:
                yield [100.0 * w / whole, w, n, 100.0 * own / whole, own, "  " * len(prefix) + function[0]]
                yield from below(prefix + (function,))
    return list(below(()))


def osrt_rows(rec):
    groups = {}
    for c in rec.calls():
        groups.setdefault(c["name"], []).append(c["end"] - c["start"])
    whole = sum(sum(v) for v in groups.values())
    rows = [[100.0 * sum(v) / whole, sum(v), len(v), sum(v) / len(v), float(statistics.median(v)), min(v), max(v),
             statistics.stdev(v) if len(v) > 1 else 0.0, name] for name, v in groups.items()]
    return sorted(rows, key=lambda r: (-r[1], r[8]))


def file_rows(rec):
    rows, whole = [], sum(c["end"] - c["start"] for c in rec.calls() if "file" in c)
    for path in {f["path"] for f in rec.tables["file"]}:
        openings = [f for f in rec.tables["file"] if f["path"] == path]
        calls = [c for c in rec.calls() if c.get("file") in [f["id"] for f in openings]]

        def of(names):
            return [c for c in calls if c["name"] in names]

        def volume(names):
            return sum(max(0, c.get("bytes", 0)) for c in of(names))

        time = sum(c["end"] - c["start"] for c in calls)
        moving = sum(c["end"] - c["start"] for c in of(READS + WRITES))
        rate = round(1000.0 * (volume(READS) + volume(WRITES)) / moving, 1)
        rows.append([100.0 * time / whole, time, sum("opened" in f for f in openings), len(of(READS)), volume(READS),
                     len(of(WRITES)), volume(WRITES), f"{rate:g}", path])
    return sorted(rows, key=lambda r: (-r[1], r[8]))


SAMPLED = "NOTE: Sampled: cpu-clock at 1000 Hz, stacks by dwarf.\n"
CALLERS = "NOTE: 1 sample lacks its outermost callers: its stack was cut.\n"
LOST = "NOTE: 7 samples or switches were lost: the kernel's buffer was full.\n"
FIGURES = ["Self (%)", "Self Time (ns)", "Self Samples", "Total (%)", "Total Time (ns)", "Samples"]
TREE = ["Time (%)", "Time (ns)", "Samples", "Self (%)", "Self Time (ns)", "Stack"]


def golden(tables, csv, column):
    rec = Recording(tables)
    stat = ["Time (%)", "Total Time (ns)", "Num Calls", "Avg (ns)", "Med (ns)", "Min (ns)", "Max (ns)", "StdDev (ns)", "Name"]
    yield "osrt_sum", "stats -q -r osrtsum -f csv CPU_REPORT", csv(stat, osrt_rows(rec))
    yield "cpu_sample_sum", "stats -q -r cpu_sample_sum -f csv CPU_REPORT", \
        csv(FIGURES + ["Function", "Module"], sample_sum(rec, "function"))
    yield "cpu_sample_sum_module", "stats -q -r cpu_sample_sum:module -f csv CPU_REPORT", \
        csv(FIGURES + ["Module"], sample_sum(rec, "module"))
    yield "cpu_sample_sum_thread", "stats -q -r cpu_sample_sum:thread -f csv CPU_REPORT", \
        csv(FIGURES + ["Function", "Module", "PID", "TID", "Thread"],
            [[str(v) if i in (8, 9) else v for i, v in enumerate(r)] for r in sample_sum(rec, "thread")])
    yield "cpu_sample_sum_rows", "stats -r cpu_sample_sum:rows=3 -f csv CPU_REPORT", \
        csv(FIGURES + ["Function", "Module"], sample_sum(rec, "function")[:3]) + \
        "[remarks]\nProcessing [CPU_REPORT] with [REPORTS/cpu_sample_sum.sql]...\n\n" + SAMPLED + LOST + CALLERS + \
        f"NOTE: {len(sample_sum(rec, 'function')) - 3} more rows are not shown: cpu_sample_sum:rows=0 shows all.\n"
    yield "cpu_stack_sum", "stats -q -r cpu_stack_sum:min=10 CPU_REPORT", \
        " ** CPU Stack Summary (cpu_stack_sum):\n\n" + column(TREE, tree_rows(rec.samples(), 10)) + "\n"
    yield "cpu_stack_sum_offcpu", "stats -q -r cpu_stack_sum:offcpu:min=0 -f csv CPU_REPORT", \
        csv(TREE, tree_rows(rec.waits(), 0))
    osrt = [(rec.with_call(c.get("stack"), c["name"]), c["end"] - c["start"], 0) for c in rec.calls()]
    yield "cpu_stack_sum_osrt", \
        "stats -q -r cpu_stack_sum:osrt:min=0.1 -f csv CPU_REPORT", csv(TREE, tree_rows(osrt, 0.1))
    yield "stack_stats_folded", "sql -f csv CPU_REPORT \"SELECT name, self, self_count FROM stack_stats('samples') " \
        "ORDER BY self DESC, name\"", \
        csv(["name", "self", "self_count"],
            sorted(([r[3], r[1], r[2]] for r in folded_rows(rec.samples())), key=lambda r: (-r[1], r[0])))
    yield "file_access_sum", "stats -q -r file_access_sum -f csv CPU_REPORT", \
        csv(["Time (%)", "Total Time (ns)", "Opens", "Reads", "Bytes Read", "Writes", "Bytes Written", "MB/s", "Path"],
            file_rows(rec))
    yield "unknown_option", "stats -r cpu_sample_sum:threads CPU_REPORT", \
        "[remarks]\nsonde stats: Report cpu_sample_sum does not have an option 'threads'. Did you mean thread?\n[status 1]\n"
    yield "option_without_value", "stats -r cpu_stack_sum:min CPU_REPORT", \
        "[remarks]\nsonde stats: Option min of cpu_stack_sum requires a value: min=1\n[status 1]\n"
