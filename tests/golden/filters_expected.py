"""What reports must print when filters leave out rows, and when numbers in names are folded: each event of the recordings is asked
by itself whether it lies in one of the chosen ranges or touches the chosen time."""
import re

import cpu_expected
import cuda_expected
from cuda_expected import API, COPY, GRAPH, KERNEL, SET, grouped, plain, stat, stat_rows

RANGE_KINDS, IMPORTED = (1, 2), 5
FOREVER = 1 << 62


def fold(text):
    return re.sub(r"\d+", "#", text)


class Filter:
    """Chosen ranges as (process, thread or None for all of them, start, end)."""
    def __init__(self, tables, time=None, ranges=None):
        self.tracks = {t["id"]: t for t in tables["track"]}
        self.time, self.ranges = time or (-FOREVER, FOREVER), ranges

    def in_time(self, start, end):
        return start <= self.time[1] and end >= self.time[0]

    def inside(self, process, thread, start, end):
        if self.ranges is None:
            return True
        for its_process, its_thread, first, last in self.ranges:
            if first > start or end > last:
                continue
            if not process or (process == its_process and (not thread or its_thread in (None, thread))):
                return True
        return False

    def event(self, row):
        track = self.tracks[row["track"]]
        start = row.get("start", row.get("time"))
        end = row.get("end", start)
        return self.in_time(start, end) and self.inside(track.get("process"), track.get("thread"), start, end)

    def pieces(self, thread, start, end):
        """The parts of a span of a thread's time that count."""
        moments = {start, end}
        spans = [(max(start, self.time[0]), min(end, self.time[1]))]
        if self.ranges is not None:
            spans = [(max(a, first), min(b, last)) for a, b in spans for process, its, first, last in self.ranges
                     if its == thread["uid"] or (its is None and process == thread["process"])]
        for a, b in spans:
            moments |= {a, b}
        moments = sorted(moments)
        found = []
        for a, b in zip(moments, moments[1:]):
            if any(first <= a and b <= last for first, last in spans):
                if found and found[-1][1] == a:
                    found[-1][1] = b
                else:
                    found.append([a, b])
        return found

    def length(self, thread, start, end):
        return sum(b - a for a, b in self.pieces(thread, start, end))


def chosen(tables, matches, indices=None, domain="", all_threads=False):
    """Ranges whose name matches, in order of start, those with the given indices."""
    domains = {d["uid"]: d["name"] for d in tables.get("nvtx_domain", []) if "name" in d}
    tracks = {t["id"]: t for t in tables["track"]}
    found = []
    for s in tables["slice"]:
        track = tracks[s["track"]]
        if track["kind"] not in RANGE_KINDS + (IMPORTED,) or not matches(s["name"]):
            continue
        if domain is not None and domains.get(track.get("domain"), "") != domain:
            continue
        crosses = "end_thread" in s or all_threads
        found.append((s["start"], track["process"], None if crosses else track["thread"], FOREVER if s["flags"] & 1 else s["end"]))
    found.sort()
    return [(p, t, start, end) for i, (start, p, t, end) in enumerate(found) if indices is None or i in indices]


class CudaFiltered(cuda_expected.Recording):
    """All of the recording is known; what is shown is what counts."""
    def __init__(self, tables, filter):
        super().__init__(tables)
        self.known = self.ranges
        self.work = [w for w in self.work if self.work_counts(filter, w)]
        self.calls = [c for c in self.calls if filter.event(c)]
        self.ranges = [r for r in self.known if filter.in_time(r["start"], r["end"]) and
                       filter.inside(r["process"], r["thread"], r["start"], r["end"])]
        for w in self.work:
            w["ranges"] = [r for r in w["ranges"] if any(r is o for o in self.ranges)]
        self.tables = dict(tables, gpu_copy=[w["row"] for w in self.work if w["kind"] == COPY], gpu_fault=[
            f for f in tables.get("gpu_fault", []) if filter.in_time(f["start"], f.get("end", f["start"])) and
            filter.inside(f["process"], None, f["start"], f.get("end", f["start"]))])

    @staticmethod
    def work_counts(filter, w):
        if not filter.in_time(w["start"], w["end"]):
            return False
        if w["call"]:
            who = w["call"]["who"]
            return filter.inside(who["process"], who["thread"], w["call"]["start"], w["call"]["end"])
        if filter.ranges is None:
            return True
        return not w["row"].get("correlation") and filter.inside(w["process"], None, w["start"], w["end"])

    def around(self, thread, start, end):
        return sorted((r for r in getattr(self, "known", self.ranges) if r["thread"] == thread and r["start"] <= start and
                       end <= r["end"]), key=lambda r: -r["start"])

    def innermost(self, w):
        """With names of ranges, those around are shown even where they do not count themselves."""
        return self.around(w["call"]["who"]["thread"], w["call"]["start"], w["call"]["end"]) if w["call"] else []

    def name(self, work, form="name", nvtx=False):
        if work["kind"] != KERNEL:
            return work["label"]
        ranges = self.innermost(work) or self.captured_in(work["process"], work["row"].get("graph_node"))
        return (ranges[0]["name"] + "/" if nvtx and ranges else "") + work["function"][form]


def children_known(rec, r):
    return sum(1 for c in rec.known if c["thread"] == r["thread"] and (cuda_expected.stack(rec, c) or [None])[-1] is r)


def nvtx_kernels(rec, form):
    """A kernel outside of all ranges has none; one in ranges that do not count is not shown here."""
    work = [w for w in rec.work if not (w["kind"] == KERNEL and rec.innermost(w) and not w["ranges"])]
    shown, rec.work = rec.work, work
    rows = cuda_expected.nvtx_kernels(rec, form)
    rec.work = shown
    return rows


def cuda_cases(tag, options, rec, csv, report="CUDA_REPORT"):
    def case(name, asked, titles, rows):
        return f"{tag}_{name}", f"stats -q -r {asked} {options} -f csv {report}", csv(titles, rows)

    both = lambda r: (r[-2], r[-1])
    c = cuda_expected
    c.children = children_known
    yield case("cuda_api_sum", "cuda_api_sum", stat("Num Calls", "Name"), stat_rows(c.api_groups(rec)))
    yield case("cuda_api_trace", "cuda_api_trace", "Start (ns),Duration (ns),Name,Result,CorrID,Pid,Tid,T-Pri,Thread Name".split(","),
               c.api_trace(rec))
    yield case("cuda_gpu_kern_sum", "cuda_gpu_kern_sum:nvtx-name", stat("Instances", "Name"),
               stat_rows(grouped(rec.kernels(), lambda w: (rec.name(w, "name", True),))))
    yield case("cuda_gpu_kern_gb_sum", "cuda_gpu_kern_gb_sum", stat("Instances", "GridXYZ", "BlockXYZ", "Name"), c.shape_rows(rec, "name"))
    yield case("cuda_gpu_sum", "cuda_gpu_sum", stat("Instances", "Category", "Operation"), stat_rows(c.gpu_groups(rec, "name"), both))
    yield case("cuda_api_gpu_sum", "cuda_api_gpu_sum:base", stat("Instances", "Category", "Operation"), stat_rows(
        {**c.gpu_groups(rec, "short_name"), **{("CUDA_API", *k): v for k, v in c.api_groups(rec).items()}}, both))
    yield case("cuda_gpu_trace", "cuda_gpu_trace", c.TRACE, c.gpu_trace(rec, "name", False))
    yield case("cuda_kern_exec_trace", "cuda_kern_exec_trace", c.EXEC, c.exec_trace(rec, "name"))
    yield case("cuda_kern_exec_sum", "cuda_kern_exec_sum", c.EXEC_SUM, c.exec_sum(rec, "name", False))
    yield case("nvtx_kern_sum", "nvtx_kern_sum", c.NVTX_KERN, nvtx_kernels(rec, "name"))
    yield case("nvtx_gpu_proj_trace", "nvtx_gpu_proj_trace", c.PROJ, c.proj_trace(rec))
    yield case("nvtx_gpu_proj_sum", "nvtx_gpu_proj_sum", c.PROJ_SUM, c.proj_sum(rec))
    if rec.tables["gpu_copy"]:
        sizes = ["Total (MB)", "Count"] + [f.replace("(ns)", "(MB)") for f in c.NS] + ["Operation"]
        yield case("cuda_gpu_mem_size_sum", "cuda_gpu_mem_size_sum", sizes, c.size_rows(rec))
        yield case("cuda_gpu_mem_time_sum", "cuda_gpu_mem_time_sum", stat("Count", "Operation"),
                   stat_rows(grouped([w for w in rec.work if w["kind"] in (COPY, SET)], lambda w: (w["label"],))))
    if c.unified(rec):
        yield case("um_total_sum", "um_total_sum", c.UM_TOTAL, c.um_total(rec))
        yield case("um_sum", "um_sum", c.UM, c.um_rows(rec))


def folded(tables, *columns):
    """The recording with numbers folded in the given columns, as table.column; calls lose their versions first."""
    result = dict(tables)
    for column in columns:
        table, name = column.split(".")
        result[table] = [dict(row, **{name: fold(plain(row[name]))}) if name in row else row for row in result[table]]
    return result


# Threads

def states(rec, uid):
    """(start, end, state, reason) of one thread, from its runs."""
    track = next(t["id"] for t in rec.tables["track"] if t["kind"] == 7 and t["thread"] == uid)
    calls = [c for c in rec.tables["osrt"] if rec.tracks[c["track"]]["thread"] == uid]
    runs = [r for r in rec.tables["run"] if r["track"] == track]
    before = None
    for run in runs:
        if before is None and "ready" in run:
            yield run["ready"], run["start"], "Runnable", None
        if before is not None and before["after"] == 1:
            yield before["end"], run["start"], "Preempted", None
        if before is not None and before["after"] == 2:
            covers = [c["name"] for c in calls if c["start"] <= before["end"] < c["end"]]
            reason = covers[-1] if covers else before.get("syscall")
            if "ready" in run and before["end"] <= run["ready"] <= run["start"]:
                yield before["end"], run["ready"], "Blocked", reason
                yield run["ready"], run["start"], "Runnable", None
            else:
                yield before["end"], run["start"], "Not split", reason
        yield run["start"], run["end"], "Running", None
        before = run


def state_rows(rec, filter):
    rows = []
    for uid in sorted({t["thread"] for t in rec.tables["track"] if t["kind"] == 7}):
        thread, sums = rec.threads[uid], {}
        for start, end, state, reason in states(rec, uid):
            for a, b in filter.pieces(thread, start, end):
                sums.setdefault((state, reason), []).append(b - a)
        whole, ran = sum(sum(v) for v in sums.values()), sum(sum(v) for k, v in sums.items() if k[0] == "Running")
        for (state, reason), v in sums.items():
            rows.append(((-ran, uid, -sum(v), state, reason or ""), [
                100.0 * sum(v) / whole, sum(v), len(v), sum(v) / len(v), min(v), max(v), rec.pids[thread["process"]], thread["tid"],
                thread["name"], state, reason]))
    return [r for _, r in sorted(rows, key=lambda r: r[0])]


STATES = ["Time (%)", "Total Time (ns)", "Instances", "Avg (ns)", "Min (ns)", "Max (ns)", "PID", "TID", "Thread", "State", "Blocked In"]


def sched_rows(rec, filter):
    threads, cores = {}, {}
    for track in [t for t in rec.tables["track"] if t["kind"] == 7]:
        thread, before = rec.threads[track["thread"]], None
        for run in [r for r in rec.tables["run"] if r["track"] == track["id"]]:
            busy = filter.length(thread, run["start"], run["end"])
            waited = "ready" in run and (before is None or run["ready"] >= before["end"])
            wait = filter.length(thread, run["ready"], run["start"]) if waited else 0
            gap = filter.length(thread, before["end"], run["start"]) if before and not waited and before["after"] == 2 else 0
            if busy:
                for sums, key, its_gap in ((threads, thread["uid"], gap), (cores, run["cpu"], 0)):
                    s = sums.setdefault(key, {"busy": 0, "runs": 0, 1: 0, 2: 0, 3: 0, "moves": 0, "waits": [], "gap": 0})
                    s["busy"] += busy
                    s["runs"] += 1
                    s[run["after"]] += 1
                    s["moves"] += bool(before) and before["cpu"] != run["cpu"]
                    s["waits"] += [wait] if wait else []
                    s["gap"] += its_gap
            before = run
    rows = []
    for uid, s in sorted(threads.items(), key=lambda t: (-t[1]["busy"], t[0])):
        thread = rec.threads[uid]
        rows.append(sched_row(s, s["gap"]) + [s["gap"], rec.pids[thread["process"]], thread["tid"], thread["name"]])
    return rows + [sched_row(s, 0) + [None, None, None, f"core {cpu}"] for cpu, s in sorted(cores.items())]


def sched_row(s, gap):
    waits = s["waits"]
    return [s["busy"], s["runs"], s[2], s[1], s["moves"], sum(waits) if waits or gap == 0 else None,
            sum(waits) / len(waits) if waits else None, max(waits) if waits else None]


SCHED = ["CPU Time (ns)", "Runs", "Voluntary", "Forced", "Migrations", "Queue Wait (ns)", "Avg Wait (ns)", "Max Wait (ns)",
         "Not Split (ns)", "PID", "TID", "Thread or Core"]


class CpuFiltered(cpu_expected.Recording):
    def __init__(self, tables, filter):
        shown = dict(tables, sample=[s for s in tables["sample"] if filter.event(s)], osrt=[c for c in tables["osrt"] if filter.event(c)])
        super().__init__(shown)
        self.filter, self.whole = filter, cpu_expected.Recording(tables)

    def waits(self):
        for track in {r["track"] for r in self.tables["run"]}:
            runs = [r for r in self.tables["run"] if r["track"] == track]
            for run, following in zip(runs, runs[1:]):
                thread = self.threads[self.tracks[track]["thread"]]
                time = self.filter.length(thread, run["end"], following.get("ready", following["start"]))
                if run["after"] == 2 and time:
                    yield self.with_call(run.get("stack"), run.get("syscall")), time, track


def cpu_cases(tag, options, tables, filter, csv, report, files=False):
    rec = CpuFiltered(tables, filter)
    c = cpu_expected
    stat_titles = ["Time (%)", "Total Time (ns)", "Num Calls", "Avg (ns)", "Med (ns)", "Min (ns)", "Max (ns)", "StdDev (ns)", "Name"]

    def case(name, asked, titles, rows):
        return f"{tag}_{name}", f"stats -q -r {asked} {options} -f csv {report}", csv(titles, rows)

    yield case("osrt_sum", "osrt_sum", stat_titles, c.osrt_rows(rec))
    yield case("cpu_sample_sum", "cpu_sample_sum", c.FIGURES + ["Function", "Module"], c.sample_sum(rec, "function"))
    yield case("cpu_stack_sum", "cpu_stack_sum:min=0", c.TREE, c.tree_rows(rec.samples(), 0))
    yield case("cpu_stack_sum_offcpu", "cpu_stack_sum:offcpu:min=0", c.TREE, c.tree_rows(rec.waits(), 0))
    yield case("thread_state_sum", "thread_state_sum", STATES, state_rows(rec.whole, filter))
    yield case("sched_sum", "sched_sum", SCHED, sched_rows(rec.whole, filter))


# Slices of imported traces

def slice_rows(tables, pattern, name=lambda s: (s["name"],)):
    slices = [s for s in tables["slice"] if re.fullmatch(pattern, s.get("class", ""))]
    return stat_rows(grouped(slices, name, lambda s: s["end"] - s["start"]), lambda r: tuple(r[8:]))


def imported_cases(tables, csv):
    args = {}
    for a in tables["arg"]:
        args.setdefault(a["set"], {})[a["key"]] = a.get("integer", a.get("text"))

    def case(report, titles, rows):
        return report.replace(":", "_"), f"stats -q -r {report} -f csv STEPS_REPORT", csv(titles, rows)

    def of(s):
        return args.get(s.get("args"), {})

    sources = {"MPI_P2P_EVENTS": "p2p", "MPI_COLLECTIVES_EVENTS": "collectives", "MPI_START_WAIT_EVENTS": "start_wait",
               "MPI_OTHER_EVENTS": "other"}
    yield case("syscall_sum", stat("Num Calls", "Name"), slice_rows(tables, "SYSCALL"))
    yield case("syscall_sum:group", stat("Num Calls", "Name"), slice_rows(tables, "SYSCALL", lambda s: (fold(s["name"]),)))
    yield case("openmp_sum", stat("Count", "Name"), slice_rows(tables, "OPENMP_.*"))
    yield case("openacc_sum", stat("Count", "Name"), slice_rows(tables, ".*OPENACC.*"))
    yield case("nvvideo_api_sum", stat("Num Calls", "Event Type", "Name"), slice_rows(tables, "NVVIDEO.*", lambda s: ("Decoder", s["name"])))
    yield case("vulkan_api_sum", stat("Num Calls", "Name"), slice_rows(tables, "VULKAN_API"))
    yield case("vulkan_marker_sum", stat("Instances", "Range"), slice_rows(tables, "VULKAN_DEBUG_API"))
    yield case("vulkan_gpu_marker_sum", stat("Instances", "Range"), slice_rows(tables, "VULKAN_WORKLOAD"))
    yield case("dx11_pix_sum", stat("Instances", "Range"), slice_rows(tables, "D3D11.*"))
    for report, number in (("opengl_khr_range_sum", 62), ("opengl_khr_gpu_range_sum", 63)):
        yield case(report, stat("Instances", "Range"), slice_rows(
            dict(tables, slice=[s for s in tables["slice"] if of(s).get("eventClass") == number]), "KHR.*"))
    yield case("opengl_khr_range_sum:group", stat("Instances", "Range"), slice_rows(
        dict(tables, slice=[s for s in tables["slice"] if of(s).get("eventClass") == 62]), "KHR.*", lambda s: (fold(s["name"]),)))
    yield case("mpi_event_sum", stat("Instances", "Source", "Name"), slice_rows(tables, "MPI.*", lambda s: (sources[s["class"]], s["name"])))
    calls = sorted((s for s in tables["slice"] if s.get("class") in sources), key=lambda s: s["start"])
    million = cuda_expected.megabytes
    rows = []
    for s in calls:
        a, between = of(s), s["class"] == "MPI_P2P_EVENTS"
        rows.append([s["start"], s["end"], s["end"] - s["start"], s["name"], 100, 100, a.get("tag"), 3, a.get("remoteRank"),
                     a.get("rootRank"), million(a.get("size") if between else None), million(None if between else a.get("size")),
                     million(a.get("recvSize"))])
    yield case("mpi_event_trace", ["Start (ns)", "End (ns)", "Duration (ns)", "Event", "Pid", "Tid", "Tag", "Rank", "PeerRank", "RootRank",
                                   "Size (MB)", "CollSendSize (MB)", "CollRecvSize (MB)"], rows)
    sizes = {}
    for s in calls:
        for key in ("size", "recvSize"):
            if key in of(s):
                source = "p2p" if s["class"] == "MPI_P2P_EVENTS" else "coll_send" if key == "size" else "coll_recv"
                sizes.setdefault((source, s["name"]), []).append(of(s)[key])
    rows = [[million(sum(v)), len(v)] + [million(f) for f in cuda_expected.figures(v)] + list(k)
            for k, v in sorted(sizes.items(), key=lambda i: (-sum(i[1]), i[0]))]
    yield case("mpi_msg_size_sum", ["Total Message Volume (MB)", "Instances"] + [f.replace("(ns)", "(MB)") for f in cuda_expected.NS] +
               ["Source", "Name"], rows)
    yield case("vulkan_api_trace", "Start (ns),Duration (ns),Name,Event Class,Context,CorrID,Pid,Tid,T-Pri,Thread Name".split(","),
               [[s["start"], s["end"] - s["start"], s["name"], of(s)["eventClass"], of(s)["contextId"], of(s)["correlationId"], 100, 100, None,
                 "train"] for s in tables["slice"] if s.get("class") == "VULKAN_API"])
    yield case("network_congestion", ["Start (ns)", "End (ns)", "Duration (ns)", "Send wait rate", "GUID", "Name"],
               [[6000, 7000, 1000, 40 / 1000 * 1e6, "0x1234", "mlx5_0"]])


# NVTX ranges

def nvtx_rows(tables, filter, name=lambda n: n):
    domains = {d["uid"]: d["name"] for d in tables["nvtx_domain"] if "name" in d}
    groups = {}
    for s in tables["slice"]:
        track = filter.tracks[s["track"]]
        if track["kind"] in RANGE_KINDS and not s["flags"] & 1 and filter.event(s):
            key = ("PushPop" if track["kind"] == 1 else "StartEnd", domains.get(track["domain"], "") + ":" + name(s["name"]))
            groups.setdefault(key, []).append(s["end"] - s["start"])
    return stat_rows(groups, lambda r: (r[-2], r[-1]))


def nvtx_golden(tables, csv, titles, trace):
    """Traces keep the ids and levels of the whole recording."""
    whole, domains = Filter(tables), {d["uid"]: d["name"] for d in tables["nvtx_domain"] if "name" in d}
    for tag, options, filter in (
            ("nvtx_by_range", "--filter-nvtx step/1", Filter(tables, ranges=chosen(tables, named("step"), {1}))),
            ("nvtx_by_crossing", "--filter-nvtx request/0", Filter(tables, ranges=chosen(tables, named("request"), {0}))),
            ("nvtx_by_domain", "--filter-nvtx read@i*", Filter(tables, ranges=chosen(tables, named("read"), domain="io"))),
            ("nvtx_by_any_domain", "--filter-nvtx r*@*/2-", Filter(tables, ranges=chosen(
                tables, lambda n: n.startswith("r"), range(2, 99), None))),
            ("nvtx_by_time", "--filter-time 450/600", Filter(tables, (450, 600)))):
        yield tag + "_sum", f"stats -q -r nvtx_sum {options} -f csv REPORT", csv(
            stat("Instances", "Style", "Range"), nvtx_rows(tables, filter))
        shown = {(s["start"], domains.get(whole.tracks[s["track"]]["domain"], "") + ":" + s["name"]) for s in tables["slice"]
                 if whole.tracks[s["track"]]["kind"] == 1 and filter.event(s)}
        yield tag + "_trace", f"stats -q -r nvtx_pushpop_trace {options} -f csv REPORT", csv(
            titles, [r for r in trace if (r[0], r[5]) in shown])
    yield "group_nvtx_pushpop_sum", "stats -q -r nvtx_pushpop_sum:group -f csv --filter-nvtx step/0 REPORT", csv(
        stat("Instances", "Range"), [r[:8] + r[9:] for r in nvtx_rows(dict(tables, slice=[
            s for s in tables["slice"] if whole.tracks[s["track"]]["kind"] == 1]), Filter(tables, ranges=chosen(tables, named("step"), {0})))])


CHILDREN = cuda_expected.children


def named(exact):
    return lambda name: name == exact


def nothing(tag, asked, message, report="STEPS_REPORT"):
    return tag, f"stats -r cuda_gpu_kern_sum {asked} {report}", f"[remarks]\nsonde stats: {message}\n[status 1]\n"


def messages():
    yield nothing("filter_unknown_range", "--filter-nvtx stepp", "No range is 'stepp'. The nearest are 'step 1', 'step 2', 'step 3'")
    yield nothing("filter_other_domain", "--filter-nvtx \"batch 1\"", "No range is 'batch 1'. The nearest are 'batch 1@loader', "
                  "'batch 2@loader', 'epoch 1'")
    yield nothing("filter_index_too_large", "--filter-nvtx \"step 1/2\"", "Ranges 'step 1' have the indices 0 to 1; 'step 1/2' selects none")
    yield nothing("filter_no_steps", "--steps 5-9", "Steps are the 6 ranges 'step N', numbered 1 to 10; none of them is in '5-9'")
    yield nothing("filter_bad_steps", "--steps 3-1", "Cannot read the steps '3-1': write numbers like 3, 2-5, 7- or -4, separated by commas")
    yield nothing("filter_bad_time", "--filter-time 5", "Cannot read the times '5': write [start]/[end], in ns or with ns, us, ms or s, "
                  "as in 1.5s/2s")
    yield nothing("filter_time_backwards", "--filter-time 5us/4us", "'5us/4us' ends before it starts")
    yield nothing("filter_by_both", "--steps 1 --filter-nvtx x", "Ranges are chosen by name or as steps, not by both")
    yield "filter_without_rows", "stats -r osrt_sum --filter-time 1s/ STEPS_REPORT", \
        "SKIPPED: steps.sonde does not contain OS Runtime trace data that the filter lets through.\n\n"
    yield "filter_steps_note", "stats -r nvtx_startend_sum -f csv:nohdr --steps 3 STEPS_REPORT", \
        "100.0,4000,1,4000.0,4000.0,4000,4000,0.0,:a/b@c*\n[remarks]\nProcessing [STEPS_REPORT] with [REPORTS/nvtx_startend_sum.sql]...\n\n" \
        "NOTE: steps.sonde: Steps are the 6 ranges 'step N', numbered 1 to 10.\n"


def cuda_golden(tables, csv):
    yield from cuda_cases("time", "--filter-time 200us/0.48ms", CudaFiltered(tables, Filter(tables, (200000, 480000))), csv)
    first = Filter(tables, ranges=chosen(tables, named("step"), {0}))
    yield from cuda_cases("nvtx", "--filter-nvtx step/0", CudaFiltered(tables, first), csv)
    yield "both_filters", "stats -q -r cuda_gpu_sum --filter-nvtx *f?rw*d --filter-time 300000/ -f csv CUDA_REPORT", \
        csv(stat("Instances", "Category", "Operation"), stat_rows(cuda_expected.gpu_groups(CudaFiltered(tables, Filter(
            tables, (300000, FOREVER), chosen(tables, named("forward")))), "name"), lambda r: (r[-2], r[-1])))
    kernels = folded(tables, "cuda_function.name", "cuda_function.short_name", "cuda_function.mangled", "slice.name")
    rec = cuda_expected.Recording(kernels)
    apis = cuda_expected.Recording(folded(kernels, "cuda_api.name"))
    c = cuda_expected
    both = lambda r: (r[-2], r[-1])
    for name, asked, titles, rows in (
            ("cuda_api_sum", "cuda_api_sum", stat("Num Calls", "Name"), stat_rows(c.api_groups(apis))),
            ("cuda_gpu_kern_sum", "cuda_gpu_kern_sum:mangled:nvtx-name", stat("Instances", "Name"),
             stat_rows(grouped(rec.kernels(), lambda w: (rec.name(w, "mangled", True),)))),
            ("cuda_gpu_kern_gb_sum", "cuda_gpu_kern_gb_sum", stat("Instances", "GridXYZ", "BlockXYZ", "Name"), c.shape_rows(rec, "name")),
            ("cuda_gpu_sum", "cuda_gpu_sum", stat("Instances", "Category", "Operation"), stat_rows(c.gpu_groups(rec, "name"), both)),
            ("cuda_gpu_trace", "cuda_gpu_trace:nvtx-name", c.TRACE, c.gpu_trace(rec, "name", True)),
            ("cuda_kern_exec_trace", "cuda_kern_exec_trace", c.EXEC, c.exec_trace(rec, "name")),
            ("cuda_kern_exec_sum", "cuda_kern_exec_sum:mangled", c.EXEC_SUM, c.exec_sum(rec, "mangled", False)),
            ("nvtx_kern_sum", "nvtx_kern_sum", c.NVTX_KERN, c.nvtx_kernels(rec, "name"))):
        yield f"group_{name}", f"stats -q -r {asked}:group -f csv CUDA_REPORT", csv(titles, rows)


def steps_golden(tables, csv):
    steps = [r for r in chosen(tables, lambda n: n in ("step 2", "step 3"), all_threads=True)]
    filter = Filter(tables, ranges=steps)
    tables = dict(tables, gpu_copy=[], gpu_set=[], gpu_graph=[], cuda_graph_node=[])
    nvtx = dict(tables, slice=[s for s in tables["slice"] if s["track"] < 40 and "end_thread" not in s])
    yield from cuda_cases("steps", "--steps 2-3", CudaFiltered(nvtx, filter), csv, "STEPS_REPORT")
    yield from cpu_cases("steps", "--steps 2,3", tables, filter, csv, "STEPS_REPORT")
    yield from cpu_cases("range", "--filter-nvtx \"step ?/0,1-2\"", tables, Filter(tables, ranges=chosen(
        tables, lambda n: re.fullmatch("step .", n), {0, 1, 2})), csv, "STEPS_REPORT")
    yield from cpu_cases("window", "--filter-time 5us/16us", tables, Filter(tables, (5000, 16000)), csv, "STEPS_REPORT")
    crossing = Filter(tables, ranges=chosen(tables, named("request 7")))
    yield from cpu_cases("crossing", "--filter-nvtx \"request 7\"", tables, crossing, csv, "STEPS_REPORT")
    yield "escaped_range", "stats -q -r nvtx_sum --filter-nvtx a\\/b\\@c\\* -f csv STEPS_REPORT", csv(
        stat("Instances", "Style", "Range"), nvtx_rows(tables, Filter(tables, ranges=chosen(tables, named("a/b@c*")))))
    group = cpu_expected.Recording(dict(tables, symbol=[dict(s, name=fold(s["name"])) for s in tables["symbol"]]))
    c = cpu_expected
    yield "group_cpu_sample_sum", "stats -q -r cpu_sample_sum:group -f csv STEPS_REPORT", \
        csv(c.FIGURES + ["Function", "Module"], c.sample_sum(group, "function"))
    yield "group_cpu_stack_sum", "stats -q -r cpu_stack_sum:group:min=0 -f csv STEPS_REPORT", csv(c.TREE, c.tree_rows(group.samples(), 0))
    osrt = c.Recording(dict(tables, osrt=[dict(o, name=fold(o["name"])) for o in tables["osrt"]]))
    yield "group_osrt_sum", "stats -q -r osrt_sum:group -f csv STEPS_REPORT", csv(
        ["Time (%)", "Total Time (ns)", "Num Calls", "Avg (ns)", "Med (ns)", "Min (ns)", "Max (ns)", "StdDev (ns)", "Name"], c.osrt_rows(osrt))
    grouped_names = cuda_expected.Recording(dict(nvtx, slice=[dict(s, name=fold(s["name"])) for s in nvtx["slice"]]))
    cuda_expected.children = CHILDREN
    yield "group_nvtx_gpu_proj_sum", "stats -q -r nvtx_gpu_proj_sum:group -f csv STEPS_REPORT", \
        csv(cuda_expected.PROJ_SUM, cuda_expected.proj_sum(grouped_names))
    yield "group_nvtx_gpu_proj_trace", "stats -q -r nvtx_gpu_proj_trace:group -f csv STEPS_REPORT", \
        csv(cuda_expected.PROJ, cuda_expected.proj_trace(grouped_names))
    yield "group_nvtx_sum", "stats -q -r nvtx_sum:group -f csv STEPS_REPORT", csv(
        stat("Instances", "Style", "Range"), nvtx_rows(tables, Filter(tables), fold))
    yield from imported_cases(tables, csv)
    yield from messages()


def golden(read_rows, csv, titles, trace):
    yield from nvtx_golden(read_rows("recording.txt"), csv, titles, trace)
    yield from cuda_golden(read_rows("cuda.txt"), csv)
    yield from steps_golden(read_rows("steps.txt"), csv)
