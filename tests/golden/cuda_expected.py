"""What the reports of CUDA must print for cuda.txt: every piece of work looks for its call, and every call for the ranges
around it, by going through all of them; nothing is shared with how Sonde finds them."""
import re
import statistics

PUSH_POP, START_END, API, KERNEL, COPY, SET, GRAPH = 1, 2, 9, 10, 11, 12, 14
COPIES = ["Unknown", "Host-to-Device", "Device-to-Host", "Host-to-Array", "Array-to-Host", "Array-to-Array",
          "Array-to-Device", "Device-to-Array", "Device-to-Device", "Host-to-Host", "Peer-to-Peer",
          "Unified Host-to-Device", "Unified Device-to-Host", "Unified Device-to-Device"]
MEMORIES = {1: "Pageable", 2: "Pinned", 3: "Device", 4: "Array", 5: "Managed", 6: "Device Static", 7: "Managed Static"}
NS = "Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns)".split(",")


def figures(values):
    return [sum(values) / len(values), float(statistics.median(values)), min(values), max(values),
            statistics.stdev(values) if len(values) > 1 else 0.0]


def megabytes(value):
    return None if value is None else f"{value / 1e6:.3f}"


class Recording:
    def __init__(self, tables):
        self.tables = tables
        self.tracks = {t["id"]: t for t in tables["track"]}
        self.functions = {f["id"]: f for f in tables["cuda_function"]}
        self.launches = {l["id"]: l for l in tables["cuda_launch"]}
        self.streams = {s["uid"]: s for s in tables["cuda_stream"]}
        self.pids = {p["uid"]: p["pid"] for p in tables["process"]}
        self.threads = {t["uid"]: t for t in tables["thread"]}
        self.domains = {d["uid"]: d["name"] for d in tables["nvtx_domain"]}
        gpus = {g["uid"]: g["name"] for g in tables["gpu"]}
        self.devices = {(d["process"], d["id"]): gpus[d["gpu"]] for d in tables["cuda_device"]}
        self.calls = [dict(c, who=self.tracks[c["track"]]) for c in tables["cuda_api"]]
        self.ranges = self.find_ranges()
        self.work = [self.describe(kind, row) for kind, table in ((KERNEL, "gpu_kernel"), (COPY, "gpu_copy"), (SET, "gpu_set"),
                                                                 (GRAPH, "gpu_graph")) for row in tables[table]]

    def find_ranges(self):
        found = []
        for s in self.tables["slice"]:
            track = self.tracks[s["track"]]
            found.append({"start": s["start"], "end": s["end"], "thread": track["thread"], "process": track["process"],
                          "style": "PushPop" if track["kind"] == PUSH_POP else "StartEnd",
                          "name": self.domains.get(track["domain"], "") + ":" + s["name"]})
        found.sort(key=lambda r: r["start"])
        for number, r in enumerate(found, 1):
            r["id"] = number
        return found

    def around(self, thread, start, end):
        """The ranges that contain a time span, the innermost first."""
        return sorted((r for r in self.ranges if r["thread"] == thread and r["start"] <= start and end <= r["end"]),
                      key=lambda r: -r["start"])

    def call_of(self, process, correlation):
        found = [c for c in self.calls if c["who"]["process"] == process and c.get("correlation") == correlation]
        return found[0] if found and correlation else None

    def captured_in(self, process, node):
        nodes = {n["node"]: n for n in self.tables["cuda_graph_node"] if n["process"] == process}
        while node in nodes and "original" in nodes[node]:
            node = nodes[node]["original"]
        return self.around(nodes[node]["thread"], nodes[node]["time"], nodes[node]["time"]) if node in nodes else []

    def describe(self, kind, row):
        track = self.tracks[row["track"]]
        stream = self.streams.get(track["domain"], {})
        call = self.call_of(track["process"], row.get("correlation"))
        work = {"kind": kind, "row": row, "start": row["start"], "end": row["end"], "time": row["end"] - row["start"],
                "process": track["process"], "call": call, "stream": stream.get("id", 0), "context": stream.get("context", 0),
                "device": stream.get("device", row.get("target_device", row.get("source_device")))}
        work["ranges"] = self.around(call["who"]["thread"], call["start"], call["end"]) if call else []
        if kind == KERNEL:
            launch = work["launch"] = self.launches[row["launch"]]
            work["function"] = self.functions[launch["function"]]
            work["grid"] = "%4d %4d %4d" % tuple(launch["grid_" + c] for c in "xyz")
            work["block"] = "%4d %4d %4d" % tuple(launch["block_" + c] for c in "xyz")
        elif kind == COPY:
            work["label"] = f"[CUDA memcpy {COPIES[row['kind']]}]"
        else:
            work["label"] = "[CUDA memset]" if kind == SET else "[CUDA Graph]"
        return work

    def kernels(self):
        return [w for w in self.work if w["kind"] == KERNEL]

    def name(self, work, form="name", nvtx=False):
        if work["kind"] != KERNEL:
            return work["label"]
        ranges = work["ranges"] or self.captured_in(work["process"], work["row"].get("graph_node"))
        return (ranges[0]["name"] + "/" if nvtx and ranges else "") + work["function"][form]


def plain(name):
    return re.sub(r"_v\d{4}$", "", name)


def stat_rows(groups, order=lambda row: row[-1]):
    """Groups of values by a tuple of texts, the largest sum first."""
    whole = sum(sum(v) for v in groups.values())
    rows = [[100.0 * sum(v) / whole, sum(v), len(v)] + figures(v) + list(key) for key, v in groups.items()]
    return sorted(rows, key=lambda r: (-r[1], order(r)))


def grouped(items, key, value=lambda w: w["time"]):
    groups = {}
    for item in items:
        groups.setdefault(key(item), []).append(value(item))
    return groups


def stat(count, *last):
    return ["Time (%)", "Total Time (ns)", count] + NS + list(last)


def calls(rec):
    return [c for c in rec.calls if not c["flags"] & 1]


def api_groups(rec):
    return grouped(calls(rec), lambda c: (plain(c["name"]),), lambda c: c["end"] - c["start"])


def api_trace(rec):
    return [[c["start"], None if c["flags"] & 1 else c["end"] - c["start"], plain(c["name"]), c.get("result", 0), c["correlation"],
             rec.pids[c["who"]["process"]], rec.threads[c["who"]["thread"]]["tid"], None, rec.threads[c["who"]["thread"]]["name"]]
            for c in sorted(rec.calls, key=lambda c: (c["start"], -c["end"]))]


def shape_rows(rec, form):
    groups = grouped(rec.kernels(), lambda w: (w["grid"], w["block"], w["function"][form]))
    return stat_rows(groups, lambda r: ([int(n) for n in r[-3].split()], [int(n) for n in r[-2].split()], r[-1]))


def size_rows(rec):
    groups = grouped([w for w in rec.work if w["kind"] in (COPY, SET)], lambda w: w["label"], lambda w: w["row"]["bytes"])
    rows = sorted(groups.items(), key=lambda g: (-sum(g[1]), g[0]))
    return [[megabytes(sum(v)), len(v)] + [megabytes(f) for f in figures(v)] + [name] for name, v in rows]


CATEGORIES = {KERNEL: "CUDA_KERNEL", COPY: "MEMORY_OPER", SET: "MEMORY_OPER", GRAPH: "CUDA_GRAPH"}


def gpu_groups(rec, form, nvtx=False):
    return grouped(rec.work, lambda w: (CATEGORIES[w["kind"]], rec.name(w, form, nvtx)))


def memory(kind):
    return None if kind is None else MEMORIES.get(kind, "Unknown")


def gpu_trace(rec, form, nvtx):
    rows = []
    for w in sorted(rec.work, key=lambda w: w["start"]):
        row, launch = w["row"], w.get("launch", {})
        size = row.get("bytes")
        rate = None if size is None else f"{size / w['time'] * 1e3:.3f}"
        source = memory(row.get("memory" if w["kind"] == SET else "source"))
        rows.append([w["start"], w["time"], row.get("correlation")] + [launch.get(d + c) for d in ("grid_", "block_") for c in "xyz"] +
                    [launch.get("registers"), megabytes(launch.get("static_shared")), megabytes(launch.get("dynamic_shared")),
                     megabytes(size), rate, source, memory(row.get("target")),
                     f"{rec.devices[w['process'], w['device']]} ({w['device']})", w["context"], None, w["stream"],
                     rec.name(w, form, nvtx)])
    return rows


TRACE = "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB)," \
    "Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name".split(",")


def phases(work):
    """Total, call, queue (or None), kernel."""
    call = work["call"]
    waited = work["start"] - call["end"]
    return (max(call["end"], work["end"]) - call["start"], call["end"] - call["start"], waited if waited > 0 else None,
            work["time"])


def launched(rec):
    return [w for w in rec.kernels() if w["call"]]


def who(rec, call):
    return [rec.pids[call["who"]["process"]], rec.threads[call["who"]["thread"]]["tid"]]


def exec_trace(rec, form):
    rows = []
    for w in sorted(launched(rec), key=lambda w: (w["call"]["start"], w["start"])):
        total, call, queue, kernel = phases(w)
        rows.append([w["call"]["start"], call, w["call"]["end"] if queue else None, queue, w["start"], kernel, total] +
                    who(rec, w["call"]) + [w["device"], plain(w["call"]["name"]), w["grid"], w["block"], w["function"][form]])
    return rows


def exec_sum(rec, form, nvtx):
    groups = grouped(launched(rec), lambda w: tuple(who(rec, w["call"]) + [w["device"], plain(w["call"]["name"]),
                                                                          rec.name(w, form, nvtx)]), phases)
    rows = []
    for key, values in groups.items():
        queue = [v[2] for v in values if v[2] is not None]
        total = [v[0] for v in values]
        row = list(key[:3]) + [len(values), len(queue)] + figures(total) + figures([v[1] for v in values]) + \
            (figures(queue) if queue else [None] * 5) + figures([v[3] for v in values]) + list(key[3:])
        rows.append(((-sum(total), key), row))
    return [row for _, row in sorted(rows, key=lambda r: r[0])]


def nvtx_kernels(rec, form):
    groups = {}
    for w in rec.kernels():
        by = who(rec, w["call"]) if w["call"] else [rec.pids[w["process"]], None]
        for r in w["ranges"] or [None]:
            key = (r["name"] if r else None, r["style"] if r else None, *by, w["function"][form])
            groups.setdefault(key, []).append((w["time"], r["id"] if r else None))
    rows = []
    for key, found in groups.items():
        values = [v for v, _ in found]
        rows.append([*key[:4], len({i for _, i in found}) if key[0] else None, len(values), sum(values)] + figures(values) + [key[4]])
    return sorted(rows, key=lambda r: (-r[6], r[0] or "", r[1] or "", r[2], r[3] or 0, r[12]))


def projections(rec):
    """Ranges with work, as (range, start, end, number of ops, the push/pop ranges around from the outermost in)."""
    for r in rec.ranges:
        inside = [w for w in rec.work if any(r is other for other in w["ranges"])]
        if inside:
            yield r, min(w["start"] for w in inside), max(w["end"] for w in inside), len(inside), stack(rec, r)


def stack(rec, r):
    return [o for o in reversed(rec.around(r["thread"], r["start"], r["end"])) if o is not r and o["style"] == "PushPop"]


def children(rec, r):
    return sum(1 for c in rec.ranges if c["thread"] == r["thread"] and (stack(rec, c) or [None])[-1] is r)


def proj_trace(rec):
    rows = []
    for r, start, end, ops, outer in projections(rec):
        rows.append([r["name"], start, end - start, r["start"], r["end"] - r["start"], r["style"], rec.pids[r["process"]],
                     rec.threads[r["thread"]]["tid"], ops, len(outer), children(rec, r), r["id"], outer[-1]["id"] if outer else None,
                     "".join(f":{o['id']}" for o in outer + [r])])
    return sorted(rows, key=lambda r: (r[1], r[11]))


def proj_sum(rec):
    groups = {}
    for r, start, end, ops, outer in projections(rec):
        groups.setdefault((r["name"], r["style"]), []).append((end - start, r["end"] - r["start"], ops, len(outer), children(rec, r)))
    rows = []
    for key, found in groups.items():
        sums = [sum(f[i] for f in found) for i in range(5)]
        rows.append([*key, sums[0], sums[1], len(found)] + figures([f[0] for f in found]) +
                    [sums[2]] + [float(s) / len(found) for s in sums[2:]])
    return sorted(rows, key=lambda r: (-r[2], r[0], r[1]))


def unified(rec):
    """By address: bytes to the device, to the host, faults of CPUs and of GPUs, time of the migrations."""
    found = {}
    for c in rec.tables["gpu_copy"]:
        if c["kind"] in (11, 12):
            sums = found.setdefault(c["address"], [None] * 5)
            place = c["kind"] - 11
            sums[place] = (sums[place] or 0) + c["bytes"]
            sums[4] = (sums[4] or 0) + c["end"] - c["start"]
    for f in rec.tables["gpu_fault"]:
        if f["kind"] in (3, 4):
            sums = found.setdefault(f["address"], [None] * 5)
            sums[f["kind"] - 1] = (sums[f["kind"] - 1] or 0) + f["count"]
    return found


def um_rows(rec):
    rows = sorted(unified(rec).items(), key=lambda r: (-((r[1][0] or 0) + (r[1][1] or 0)), -((r[1][2] or 0) + (r[1][3] or 0)), r[0]))
    return [[f"0x{address:X}", megabytes(up), megabytes(down), cpu, gpu,
             f"{((up or 0) + (down or 0)) / time * 1e3:.3f}" if time else None] for address, (up, down, cpu, gpu, time) in rows]


def um_total(rec):
    found = unified(rec)
    up, down, cpu, gpu = (sum(s[i] or 0 for s in found.values()) for i in range(4))
    return [[megabytes(up), megabytes(down), cpu, gpu, f"0x{min(found):X}", f"0x{max(found):X}"]]


UM = ["Virtual Address", "HtoD Migration Size (MB)", "DtoH Migration Size (MB)", "CPU Page Faults", "GPU Page Faults",
      "Migration Throughput (MB/s)"]
UM_TOTAL = ["Total HtoD Migration Size (MB)", "Total DtoH Migration Size (MB)", "Total CPU Page Faults", "Total GPU PageFaults",
            "Minimum Virtual Address", "Maximum Virtual Address"]
EXEC = ["API Start (ns)", "API Dur (ns)", "Queue Start (ns)", "Queue Dur (ns)", "Kernel Start (ns)", "Kernel Dur (ns)",
        "Total Dur (ns)", "PID", "TID", "DevId", "API Function", "GridXYZ", "BlockXYZ", "Kernel Name"]
EXEC_SUM = ["PID", "TID", "DevId", "Count", "QCount"] + [p + f for p in "TAQK" for f in NS] + ["API Name", "Kernel Name"]
PROJ = ["Name", "Projected Start (ns)", "Projected Duration (ns)", "Orig Start (ns)", "Orig Duration (ns)", "Style", "PID", "TID",
        "NumGPUOps", "Lvl", "NumChild", "RangeId", "ParentId", "RangeStack"]
PROJ_SUM = ["Range", "Style", "Total Proj Time (ns)", "Total Range Time (ns)", "Range Instances"] + ["Proj " + f for f in NS] + \
    ["Total GPU Ops", "Avg GPU Ops", "Avg Range Lvl", "Avg Num Child"]
NVTX_KERN = ["NVTX Range", "Style", "PID", "TID", "NVTX Inst", "Kern Inst", "Total Time (ns)"] + NS + ["Kernel Name"]


def golden(tables, csv, column):
    rec = Recording(tables)

    def case(name, report, titles, rows):
        return name, f"stats -q -r {report} -f csv CUDA_REPORT", csv(titles, rows)

    name = stat("Instances", "Name")
    operation = stat("Instances", "Category", "Operation")
    by_name = lambda form, nvtx=False: stat_rows(grouped(rec.kernels(), lambda w: (rec.name(w, form, nvtx),)))
    both = lambda r: (r[-2], r[-1])
    yield case("cuda_api_sum", "cudaapisum", stat("Num Calls", "Name"), stat_rows(api_groups(rec)))
    yield case("cuda_api_trace", "cuda_api_trace",
               "Start (ns),Duration (ns),Name,Result,CorrID,Pid,Tid,T-Pri,Thread Name".split(","), api_trace(rec))
    yield case("cuda_gpu_kern_sum", "gpukernsum", name, by_name("name"))
    yield case("cuda_gpu_kern_sum_mangled", "cuda_gpu_kern_sum:mangled", name, by_name("mangled"))
    yield case("cuda_gpu_kern_sum_nvtx", "cuda_gpu_kern_sum:nvtx-name:base", name, by_name("short_name", True))
    yield case("cuda_gpu_kern_gb_sum", "cuda_gpu_kern_gb_sum", stat("Instances", "GridXYZ", "BlockXYZ", "Name"), shape_rows(rec, "name"))
    yield case("cuda_gpu_mem_time_sum", "gpumemtimesum", stat("Count", "Operation"),
               stat_rows(grouped([w for w in rec.work if w["kind"] in (COPY, SET)], lambda w: (w["label"],))))
    sizes = ["Total (MB)", "Count"] + [f.replace("(ns)", "(MB)") for f in NS] + ["Operation"]
    yield case("cuda_gpu_mem_size_sum", "gpumemsizesum", sizes, size_rows(rec))
    yield case("cuda_gpu_sum", "gpusum:base", operation, stat_rows(gpu_groups(rec, "short_name"), both))
    yield case("cuda_gpu_sum_nvtx", "cuda_gpu_sum:nvtx-name", operation, stat_rows(gpu_groups(rec, "name", True), both))
    yield case("cuda_api_gpu_sum", "apigpusum:mangled", operation, stat_rows(
        {**gpu_groups(rec, "mangled"), **{("CUDA_API", *k): v for k, v in api_groups(rec).items()}}, both))
    yield case("cuda_gpu_trace", "gputrace", TRACE, gpu_trace(rec, "name", False))
    yield case("cuda_gpu_trace_nvtx", "cuda_gpu_trace:base:nvtx-name", TRACE, gpu_trace(rec, "short_name", True))
    yield case("cuda_kern_exec_trace", "kernexectrace:base", EXEC, exec_trace(rec, "short_name"))
    yield case("cuda_kern_exec_sum", "kernexecsum", EXEC_SUM, exec_sum(rec, "name", False))
    yield case("cuda_kern_exec_sum_nvtx", "cuda_kern_exec_sum:base:nvtx-name", EXEC_SUM, exec_sum(rec, "short_name", True))
    yield case("nvtx_kern_sum", "nvtxkernsum", NVTX_KERN, nvtx_kernels(rec, "name"))
    yield case("nvtx_kern_sum_base", "nvtx_kern_sum:base", NVTX_KERN, nvtx_kernels(rec, "short_name"))
    yield case("nvtx_gpu_proj_trace", "nvtxgpuproj", PROJ, proj_trace(rec))
    yield case("nvtx_gpu_proj_sum", "nvtx_gpu_proj_sum", PROJ_SUM, proj_sum(rec))
    yield case("um_sum", "unifiedmemory", UM, um_rows(rec))
    yield case("um_sum_rows", "um_sum:rows=2", UM, um_rows(rec)[:2])
    yield case("um_total_sum", "unifiedmemorytotals", UM_TOTAL, um_total(rec))
    yield case("um_cpu_page_faults_sum", "umcpupagefaults", ["CPU Page Faults", "CPU Instruction Address"], [[1, "0xdead"], [1, "main"]])
    yield "cuda_usec", "stats -q -r cuda_gpu_mem_time_sum -f csv:nohdr --timeunit=us CUDA_REPORT", \
        "".join(f"{r[0]:.1f},{r[1] / 1e3:.3f},{r[2]}," + ",".join(f"{v / 1e3:.3f}" for v in r[3:8]) + f",{r[8]}\n" for r in
                stat_rows(grouped([w for w in rec.work if w["kind"] in (COPY, SET)], lambda w: (w["label"],))))
    yield "cuda_console", "stats -r cuda_gpu_mem_size_sum CUDA_REPORT", \
        "Processing [CUDA_REPORT] with [REPORTS/cuda_gpu_mem_size_sum.sql]...\n\n ** CUDA GPU MemOps Summary (by Size) " \
        "(cuda_gpu_mem_size_sum):\n\n" + \
        column(sizes, [[float3(v) if i != 1 and i < 7 else v for i, v in enumerate(r)] for r in size_rows(rec)]) + "\n"
    yield "cuda_kern_exec_note", "stats -r cuda_kern_exec_trace -f csv:nohdr CUDA_REPORT", \
        csv(EXEC, exec_trace(rec, "name")).split("\n", 1)[1] + "[remarks]\nProcessing [CUDA_REPORT] with " \
        "[REPORTS/cuda_kern_exec_trace.sql]...\n\nNOTE: 1 kernel without a recorded launch; not shown.\n"


class float3(float):
    """Shown with three decimals."""
    def __format__(self, form):
        return f"{float(self):,.3f}" if "," in form else f"{float(self):.3f}"
