"""CUDA programs that say what they did, and whether the report says the same."""
import collections
import os
import signal

import cuda_report
import harness
from suite import Skip, find_files, holds, note, program, record, report, same

MILLION = 1000000
FAULTS = ("--cuda-um-cpu-page-faults=true", "--cuda-um-gpu-page-faults=true")
BYTES_PER_LAUNCH = 16
READY = 1.0        # seconds
CLOCK_ERROR = 50e3  # ns: a call of a launch takes less


def told_kernels(recorded):
    """As Kernel: {(name, grid, block, static, dynamic): count}."""
    result = collections.Counter()
    for line in recorded.told("kernel"):
        result[(line["name"], tuple(line["grid"]), tuple(line["block"]), line["static"], line["dynamic"])] += line["count"]
    return dict(result)


def check_kernels(what, recorded):
    found = cuda_report.kernels(recorded.path)
    seen = collections.Counter()
    for kernel, times in found.items():
        seen[(kernel.name, kernel.grid, kernel.block, kernel.static, kernel.dynamic)] += times
    same(f"{what}: kernels, grids, blocks, shared memory", dict(seen), told_kernels(recorded), cuda_report.diagnostics(recorded.path))
    check_streams(what, recorded, found)
    wrong = {}
    for line in recorded.told("kernel"):
        of_it = [kernel for kernel in found if kernel.name == line["name"] and kernel.grid == tuple(line["grid"])]
        if line["cluster"] and {kernel.cluster for kernel in of_it} != {line["cluster"]}:
            wrong[line["name"]] = [kernel.cluster for kernel in of_it]
        # CUPTI 13.0 calls every launch with attributes a cooperative one: -1, not compared.
        if line["type"] >= 0 and {kernel.type for kernel in of_it} != {line["type"]}:
            wrong[line["name"]] = [kernel.type for kernel in of_it]
    same(f"{what}: clusters and cooperative launches", wrong, {})


def check_streams(what, recorded, found):
    """The program's streams are told apart, and each is one."""
    ids = collections.defaultdict(set)
    for line in recorded.told("kernel"):
        ids[line["stream"]] |= {kernel.stream for kernel in found if kernel.name == line["name"] and kernel.grid == tuple(line["grid"])}
    every = [stream for streams in ids.values() for stream in streams]
    holds(f"{what}: one id for each stream", all(len(s) == 1 for s in ids.values()) and len(set(every)) == len(every), dict(ids))


def check_clock(what, path):
    clocks = cuda_report.clock(path)
    if not clocks:
        return report(f"{what}: clock", f"no row; {cuda_report.diagnostics(path)}")
    for clock in clocks:
        note(f"clock: {clock}")
    good = all(c["before"] == 0 and c["kernels"] and 0 <= (c["early"] or -1) < CLOCK_ERROR for c in clocks)
    holds(f"{what}: no kernel begins before its call, times are right to {CLOCK_ERROR / 1e3:.0f} us", good, clocks)
    late = [c["late"] for c in clocks if c["late"] is not None]
    return holds(f"{what}: no kernel ends after the call that waited for it", all(0 <= v < 4 * CLOCK_ERROR for v in late), clocks)


def check_correlation(what, path):
    """Every kernel and copy has its call."""
    calls = {row["correlation"] for row in cuda_report.rows(path, "cuda_api", ("correlation",))}
    for table in ("gpu_kernel", "gpu_copy", "gpu_set"):
        where = "where kind not in (11, 12, 13)" if table == "gpu_copy" else ""
        work = [row["correlation"] for row in cuda_report.rows(path, table, ("correlation",), where)]
        missing = [correlation for correlation in work if correlation not in calls]
        holds(f"{what}: calls of {table}", work and not missing, f"{len(missing)} of {len(work)} have none")


def check_nothing_lost(what, path):
    same(f"{what}: nothing lost", cuda_report.losses(path), 0, cuda_report.diagnostics(path))


def test_zoo():
    """One of everything."""
    recorded = record("zoo", [program("zoo")])
    path = recorded.path
    check_kernels("zoo", recorded)
    wanted = collections.Counter()
    for line in recorded.told("copy"):
        wanted[(line["copy"], line["bytes"])] += line["count"]
    same("zoo: copies", cuda_report.copies(path), dict(wanted))
    wanted = {(line["value"], line["bytes"]): line["count"] for line in recorded.told("set")}
    same("zoo: sets", cuda_report.grouped(path, "gpu_set", ("value", "bytes")), wanted)
    check_syncs(recorded)
    check_calls(recorded)
    check_names(recorded)
    check_correlation("zoo", path)
    check_clock("zoo", path)
    check_nothing_lost("zoo", path)
    check_peer_tables(path)


def check_syncs(recorded):
    found = cuda_report.grouped(recorded.path, "gpu_sync", ("kind",))
    least = collections.Counter()
    for line in recorded.told("sync"):
        least[line["sync"]] += line["least"]
    few = {kind: (found.get((kind,), 0), wanted) for kind, wanted in least.items() if found.get((kind,), 0) < wanted}
    same("zoo: synchronisation of each kind", few, {}, found)
    wanted = sum(line["recorded"] for line in recorded.told("events"))
    same("zoo: events", cuda_report.count(recorded.path, "cuda_event"), wanted)


def check_calls(recorded):
    found = cuda_report.calls(recorded.path)
    wrong = {}
    for line in recorded.told("call"):
        seen = found.get((line["name"], line["result"]), 0)
        if seen != line["count"]:
            wrong[line["name"]] = (seen, line)
    same("zoo: calls and what they returned", wrong, {}, "" if not wrong else sorted(found))
    note(f"{sum(found.values())} calls of {len(found)} kinds")


def check_names(recorded):
    path = recorded.path
    names = {f["short_name"]: f for f in cuda_report.functions(path).values()}
    holds("zoo: demangled names", "zoo::shaped<float>" in (names.get("shaped") or {}).get("name", ""), names.get("shaped"))
    device = recorded.told("device")[0]
    gpus = cuda_report.rows(path, "gpu", ("name", "uuid", "bus", "sm_count", "major", "minor", "memory"))
    note(f"GPUs: {gpus}")
    wanted = (device["name"], device["sms"], device["major"])
    holds("zoo: the GPU", any((g["name"], g["sm_count"], g["major"]) == wanted for g in gpus), f"{gpus}, wanted {device}")
    told = recorded.told("priority")[0]
    streams = cuda_report.rows(path, "cuda_stream", ("id", "priority", "flag"))
    names = {int(number): name for number, name in harness.sql(path, "select streamId, name from TARGET_INFO_NVTX_CUDA_STREAM")}
    named = [s["priority"] for s in streams if names.get(s["id"]) == told["name"]]
    holds("zoo: stream with its priority and name", named == [told["value"]], (streams, names))
    for line in recorded.told("green"):
        contexts = cuda_report.rows(path, "cuda_context", ("id", "green", "sm_count", "parent"))
        holds("zoo: green context", any(c["green"] == 1 and c["sm_count"] in (None, line["sms"]) for c in contexts), contexts)
    same("zoo: module loaded by the driver", cuda_report.count(path, "cuda_module") > 0, True)


def check_peer_tables(path):
    """The tables of the peer's export hold as many rows as ours."""
    tables = {row[0] for row in harness.sql(path, "select name from sqlite_master")}
    pairs = {"KERNEL": "gpu_kernel", "MEMCPY": "gpu_copy", "MEMSET": "gpu_set", "SYNCHRONIZATION": "gpu_sync", "RUNTIME": "cuda_api"}
    for kind, ours in pairs.items():
        theirs = f"CUPTI_ACTIVITY_KIND_{kind}"
        if theirs not in tables:
            report(f"table {theirs}", "it is not there")
            continue
        same(f"table {theirs}", cuda_report.number(path, f"select count(*) from {theirs}"), cuda_report.count(path, ours))


REPORTS = {
    "cuda_api_sum": "Num Calls", "cuda_gpu_kern_sum": "Instances", "cuda_gpu_kern_gb_sum": "Instances", "cuda_gpu_mem_time_sum": "Count",
    "cuda_gpu_mem_size_sum": "Count", "cuda_gpu_sum": "Instances", "cuda_api_gpu_sum": "Instances", "cuda_kern_exec_sum": "Count",
    "cuda_api_trace": None, "cuda_gpu_trace": None, "cuda_kern_exec_trace": None, "nvtx_kern_sum": None, "nvtx_gpu_proj_sum": None,
    "nvtx_gpu_proj_trace": None, "um_sum": None, "um_total_sum": None, "um_cpu_page_faults_sum": None,
}


def test_statistics():
    """The statistics of a small recording agree with its rows."""
    recorded = record("statistics", [program("zoo")], FAULTS)
    path = recorded.path
    kernels = sum(line["count"] for line in recorded.told("kernel"))
    want = {"cuda_api_sum": cuda_report.count(path, "cuda_api"), "cuda_gpu_kern_sum": kernels, "cuda_gpu_kern_gb_sum": kernels,
            "cuda_kern_exec_sum": kernels, "cuda_kern_exec_trace": kernels, "cuda_api_trace": cuda_report.count(path, "cuda_api"),
            "cuda_gpu_trace": sum(cuda_report.count(path, table) for table in ("gpu_kernel", "gpu_copy", "gpu_set"))}
    for name, column in REPORTS.items():
        try:
            table = harness.stats(path, name)
        except RuntimeError as error:
            report(f"statistics: {name}", str(error)[-200:])
            continue
        if column and table and column not in table[0]:
            report(f"statistics: {name}", f"no column {column}: {list(table[0])}")
        elif name in want:
            same(f"statistics: {name}", sum(int(row[column]) for row in table) if column else len(table), want[name])
        else:
            note(f"{name}: {len(table)} rows")


def test_memory():
    """Allocations, pools and unified memory."""
    recorded = record("memory", [program("zoo")], ("--cuda-memory-usage=true", *FAULTS))
    path = recorded.path
    found = cuda_report.grouped(path, "gpu_memory", ("bytes", "operation"))
    for line in recorded.told("memory"):
        what = f"memory: {line['bytes'] >> 20} MiB {'from a pool' if line['pool'] else 'by cudaMalloc'}"
        same(what, (found.get((line["bytes"], 1), 0), found.get((line["bytes"], 2), 0)), (line["allocated"], line["released"]))
    pools = cuda_report.count(path, "gpu_memory", "where pool is not null")
    holds("memory: pools", pools >= 10, f"{pools} rows with a pool")
    unified = recorded.told("unified")[0]
    moved = {kind: cuda_report.number(path, f"select coalesce(sum(bytes), 0) from sonde_gpu_copy where kind = {kind}")
             for kind in (11, 12)}
    faults = cuda_report.grouped(path, "gpu_fault", ("kind",))
    note(f"unified memory moved: {moved}, faults: {faults}; diagnostics: {cuda_report.diagnostics(path)}")
    holds("memory: migrations to the device", moved[11] >= unified["bytes"], moved)
    holds("memory: migrations to the host", moved[12] >= unified["bytes"], moved)
    holds("memory: faults of the CPU and of the GPU", faults.get((3,)) and faults.get((4,)), faults)


def test_graphs():
    """Graphs as a whole: one row for each launch of them."""
    recorded = record("graphs", [program("graphs")], ("--cuda-graph-trace=graph",))
    wanted = sum(line["launches"] for line in recorded.told("graph"))
    same("graphs: one row for each launch", cuda_report.count(recorded.path, "gpu_graph"), wanted, cuda_report.diagnostics(recorded.path))
    same("graphs: their nodes have no rows", cuda_report.kernel_counts(recorded.path), {"first_part": 1})
    ends = cuda_report.number(recorded.path, 'select count(*) from sonde_gpu_graph where "end" > start')
    same("graphs: begin and end", ends, wanted)
    check_nothing_lost("graphs", recorded.path)


def test_graph_nodes():
    """Graphs node by node, each with the place of its capture."""
    recorded = record("nodes", [program("graphs")], ("--cuda-graph-trace=node",))
    path = recorded.path
    wanted = {line["name"]: line["count"] for line in recorded.told("node")}
    same("graph nodes: kernels", cuda_report.kernel_counts(path, "where graph_node is not null"), wanted)
    same("graph nodes: not in a graph", cuda_report.kernel_counts(path, "where graph_node is null"), {"first_part": 1})
    for table, kind in (("gpu_set", "sets"), ("gpu_copy", "copies")):
        line = recorded.told(kind)[0]
        found = cuda_report.count(path, table, f"where bytes = {line['bytes']} and graph_node is not null")
        same(f"graph nodes: {kind}", found, line["count"])
    for line in recorded.told("node"):
        same(f"graph nodes: {line['name']} was captured in {line['range']!r}", captured_in(path, line["name"]), {line["range"]})


def test_projection():
    """NVTX ranges on the GPU: those around replays hold the kernels of the graphs."""
    recorded = record("projection", [program("graphs")], ("--cuda-graph-trace=node",))
    kernels = collections.Counter()
    for row in harness.stats(recorded.path, "nvtx_kern_sum"):
        kernels[(row["NVTX Range"].split(":")[-1], row["Kernel Name"].split("(")[0])] += int(row["Kern Inst"])
    wanted = {("replay captured", "first_part"): 10, ("replay captured", "second_part"): 5, ("replay built", "by_hand"): 8}
    same("projection: kernels of ranges", {key: kernels.get(key) for key in wanted}, wanted, dict(kernels))
    ranges = {next(iter(row.values())).split(":")[-1] for row in harness.stats(recorded.path, "nvtx_gpu_proj_trace")}
    holds("projection: ranges on the GPU", {"replay captured", "replay built"} <= ranges, ranges)


def captured_in(path, name):
    """Names of the NVTX ranges that were open when the nodes of kernels of this name were made."""
    nodes = {n["node"]: n for n in cuda_report.rows(path, "cuda_graph_node", ("node", "original", "thread", "time"))}
    ranges = cuda_report.rows(path, "slice", ("start", "end", "name"))
    names, ways = cuda_report.functions(path), cuda_report.launches(path)
    result = set()
    for kernel in cuda_report.rows(path, "gpu_kernel", ("launch", "graph_node"), "where graph_node is not null"):
        if names[ways[kernel["launch"]]["function"]]["short_name"] != name:
            continue
        node = nodes.get(kernel["graph_node"])
        for _ in range(8):  # clones of clones; not without end
            node = nodes.get(node["original"], node) if node else None
        if not node:
            result.add("no node")
            continue
        around = [r["name"] for r in ranges if r["start"] <= node["time"] <= (r["end"] or r["start"])]
        result.add(around[0] if around else None)
    return result


def test_launches():
    """A million launches from four threads."""
    recorded = record("launches", [program("launches"), str(MILLION), "4"], seconds=120)
    path, total = recorded.path, recorded.told("total")[0]
    grids = cuda_report.launches(path)
    found = collections.Counter()
    for (launch,), times in cuda_report.grouped(path, "gpu_kernel", ("launch",)).items():
        found[grids[launch]["grid_x"]] += times
    same("million launches: kernels by grid", dict(found), {line["x"]: line["count"] for line in recorded.told("grid")})
    calls = sum(times for (name, _), times in cuda_report.calls(path).items() if name.startswith("cudaLaunchKernel"))
    same("million launches: calls", calls, MILLION)
    check_nothing_lost("million launches", path)
    size = os.path.getsize(path) / max(1, cuda_report.count(path, "gpu_kernel"))
    holds(f"million launches: {size:.1f} bytes for each", size <= BYTES_PER_LAUNCH, f"{BYTES_PER_LAUNCH} at most")
    last = cuda_report.number(path, 'select max("end") from sonde_process') / 1e9
    ready = recorded.took - last
    note(f"{recorded.took:.2f} s in all, {total['us_per_launch']} us per launch, ready {ready:.2f} s after the program's end")
    holds("million launches: report is ready", ready <= READY, f"{ready:.2f} s after the program's end, {READY} at most")
    check_clock("million launches", path)
    overlap = cuda_report.number(path, "select count(distinct track) from sonde_gpu_kernel")
    note(f"{overlap} tracks of kernels")


def test_durations():
    """Kernels that last as long as the GPU's own timer says."""
    recorded = record("spin", [program("spin")])
    truth = collections.defaultdict(list)
    for line in recorded.told("spin"):
        truth[line["grid"]].append(line["ns"])
    found = cuda_report.durations(recorded.path, "short_name")
    for blocks, wanted in truth.items():
        seen = sorted(found.get(("spin", (blocks, 1, 1)), [0]))
        middle, right = seen[len(seen) // 2], sorted(wanted)[len(wanted) // 2]
        # Beginning and ending a kernel takes some microseconds that its own code does not see.
        good = right * 0.98 <= middle <= right * 1.02 + 4000
        holds(f"duration of {right / 1e3:.0f} us: {middle / 1e3:.1f}", good and len(seen) == len(wanted), f"{seen}, wanted {wanted}")
    check_clock("spin", recorded.path)


def test_window():
    """Only what lies in the program's own windows."""
    options = ("-c", "cudaProfilerApi", "--capture-range-end=stop")
    one = record("window", [program("window")], options)
    same("window: the first one", cuda_report.kernel_counts(one.path), {"inside": 50}, cuda_report.diagnostics(one.path))
    streams = cuda_report.rows(one.path, "cuda_stream", ("id", "priority"))
    holds("window: a stream made before it is known", any(s["priority"] == -1 for s in streams), streams)
    two = record("windows", [program("window")], ("-c", "cudaProfilerApi", "--capture-range-end=repeat"))
    same("window: both", cuda_report.kernel_counts(two.path), {"inside": 50, "inside_again": 30}, cuda_report.diagnostics(two.path))
    for what, path, count in (("one window", one.path, 50), ("both windows", two.path, 80)):
        calls = sum(times for (name, _), times in cuda_report.calls(path).items() if name.startswith("cudaLaunch"))
        same(f"window: calls of {what}", calls, count)
    never = record("never", [program("window"), "never"], options)
    same("window: never opened", (cuda_report.kernel_counts(never.path), cuda_report.count(never.path, "cuda_api")), ({}, 0))


def test_exits():
    """However a process ends, its kernels are there."""
    for mode in ("return", "_exit", "exec", "child", "fork"):
        recorded = record(f"exit-{mode}", [program("exits"), mode])
        wanted = sum(line["count"] for line in recorded.told("kernel"))
        found = cuda_report.kernel_counts(recorded.path).get("last_words")
        same(f"exit by {mode}", found, wanted, cuda_report.diagnostics(recorded.path))
    # Nobody is asked at the end of these: what CUPTI had delivered is there.
    for mode, status in (("quick", 0), ("abort", 128 + signal.SIGABRT), ("kill", 128 + signal.SIGKILL)):
        recorded = record(f"exit-{mode}", [program("exits"), mode], status=status)
        found = cuda_report.kernel_counts(recorded.path).get("last_words", 0)
        if mode == "kill":
            same("killed 3 s after its kernels", found, 40, cuda_report.diagnostics(recorded.path))
        else:
            note(f"{found} of 40 kernels at the end by {mode}")


def test_backtrace():
    """Stacks of the calls."""
    recorded = record("backtrace", [program("launches"), "2000", "2"], ("--cudabacktrace=all:0", "-s", "process-tree"), quiet=False)
    calls = cuda_report.count(recorded.path, "cuda_api", "where name like 'cudaLaunchKernel%'")
    stacks = cuda_report.count(recorded.path, "cuda_api", "where name like 'cudaLaunchKernel%' and stack is not null")
    note(f"{stacks} of {calls} launches have a stack; {cuda_report.diagnostics(recorded.path)}")
    lost = cuda_report.losses(recorded.path)
    holds("backtraces of launches: each has one, or it is counted as lost", calls == 2000 and stacks >= 1900 and stacks + lost >= 2000,
          f"{stacks} of {calls}, {lost} lost")


def test_all_calls():
    """More calls when all are asked for, the same work."""
    few = record("few-calls", [program("graphs")])
    many = record("all-calls", [program("graphs")], ("--cuda-trace-all-apis=true",))
    ours, all_of_them = (cuda_report.count(r.path, "cuda_api") for r in (few, many))
    holds("all calls", all_of_them > ours, f"{all_of_them} instead of {ours}")
    found = cuda_report.kernel_counts(many.path)
    holds("all calls: same kernels", found and found == cuda_report.kernel_counts(few.path), found)


def test_without_cuda():
    """What is asked for and cannot be had: one line, and the program runs."""
    hidden = record("hidden", ["true"])
    note(f"`true`: {cuda_report.diagnostics(hidden.path)}")
    same("a program without CUDA", cuda_report.count(hidden.path, "gpu_kernel"), 0)
    unseen = record("unseen", [program("exits")], env={"CUDA_VISIBLE_DEVICES": ""}, status=3)
    note(f"no GPU to be seen: {cuda_report.diagnostics(unseen.path, 1)}")
    same("no GPU to be seen: the program's own error", "no CUDA-capable device" in unseen.run.stderr, True, unseen.run.stderr[-300:])
    wrong = record("wrong-cupti", [program("exits")], env={"SONDE_CUPTI": "/nonexistent/libcupti.so"})
    words = " ".join(cuda_report.diagnostics(wrong.path, 1))
    holds("a path of CUPTI that is not there is told", "/nonexistent/libcupti.so" in words, words)


def test_other_cupti():
    """An older CUPTI under the same driver: it works, or one line says why not."""
    libraries = [path for path in find_files("libcupti.so.1[0-9]*") if "so.13" not in path]
    if not libraries:
        raise Skip("only one version of CUPTI here")
    library = libraries[0]
    recorded = record("other-cupti", [program("zoo")], env={"SONDE_CUPTI": library})
    found = cuda_report.kernels(recorded.path)
    told = cuda_report.diagnostics(recorded.path)
    note(f"{library}: {sum(found.values())} kernels, clock {cuda_report.clock(recorded.path)}, {told}")
    if found:
        check_kernels("older CUPTI", recorded)
    else:
        holds("older CUPTI: one line says why there is nothing", len(told) >= 1, told)


PROGRAMS = ("zoo", "graphs", "launches", "spin", "window", "exits")
TESTS = {
    "zoo": test_zoo, "graphs": test_graphs, "graph_nodes": test_graph_nodes, "projection": test_projection, "launches": test_launches,
    "durations": test_durations,
    "window": test_window, "exits": test_exits, "memory": test_memory, "statistics": test_statistics, "backtrace": test_backtrace,
    "all_calls": test_all_calls, "without_cuda": test_without_cuda, "other_cupti": test_other_cupti,
}
