"""PyTorch, Triton, CuPy and JAX, where they are installed."""
import collections
import ctypes
import json
import os
import re
import shutil
import statistics

import cuda_report
import harness
from suite import holds, note, plain, python_program, record, report, same

ROUNDS, STEPS = 8, 10
RELATIVE, ABSOLUTE = 0.02, 300  # of a median duration: share, ns


def demangler():
    """As torch.profiler names kernels: by the C++ library of the machine."""
    try:
        library = ctypes.CDLL("libstdc++.so.6")
    except OSError:
        return None
    function = library.__cxa_demangle
    function.restype = ctypes.c_void_p
    status = ctypes.c_int()

    def name(mangled):
        found = function(mangled.encode(), None, None, ctypes.byref(status))
        return ctypes.string_at(found).decode() if found and status.value == 0 else mangled
    return name


def packed(name):
    """Demanglers differ in spaces, and in how they count lambdas of templates."""
    return re.sub(r"\s+", "", name)


def profiled(folder):
    """What torch.profiler saw in each of its windows: [({(name, grid, block, stream): count}, {name: [ns]}, {kind of copy or set: count})]."""
    result = []
    for number in range(ROUNDS):
        with open(os.path.join(folder, f"{number}.json"), encoding="utf-8") as f:
            events = json.load(f)["traceEvents"]
        kernels, times, others = collections.Counter(), collections.defaultdict(list), collections.Counter()
        for event in events:
            if event.get("cat") == "kernel":
                details = event["args"]
                kernels[(packed(event["name"]), tuple(details["grid"]), tuple(details["block"]), details["stream"])] += 1
                times[packed(event["name"])].append(event["dur"] * 1000)
            elif event.get("cat") in ("gpu_memcpy", "gpu_memset"):
                others[event["cat"]] += 1
        result.append((kernels, times, others))
    return result


def in_range(path, name):
    """(start, end) of the range of this name."""
    found = cuda_report.rows(path, "slice", ("start", "end", "name"))
    return next((r["start"], r["end"]) for r in found if r["name"] == name)


def measured(path):
    """The same from a report, of the work in each range `measured`."""
    demangle = demangler()
    names = {f["id"]: packed(demangle(f["mangled"]) if demangle and f["mangled"] else f["name"])
             for f in cuda_report.functions(path).values()}
    ways, streams = cuda_report.launches(path), cuda_report.stream_of_track(path)
    ranges = sorted((r["start"], r["end"]) for r in cuda_report.rows(path, "slice", ("start", "end", "name")) if r["name"] == "measured")
    result = []
    for start, end in ranges:
        inside = f'where start >= {start} and "end" <= {end}'
        kernels, times = collections.Counter(), collections.defaultdict(list)
        for row in cuda_report.rows(path, "gpu_kernel", ("start", "end", "launch", "track"), inside):
            way = ways[row["launch"]]
            name = names[way["function"]]
            kernels[(name, cuda_report.grid(way), cuda_report.block(way), (streams[row["track"]] or (0, 0))[1])] += 1
            times[name].append(row["end"] - row["start"])
        others = {"gpu_memcpy": cuda_report.count(path, "gpu_copy", inside), "gpu_memset": cuda_report.count(path, "gpu_set", inside)}
        result.append((kernels, times, {kind: times for kind, times in others.items() if times}))
    return result


def by_rank(kernels):
    """Streams by how many kernels they have: CUPTI may number them otherwise in a process that it came to later."""
    load = collections.Counter()
    for key, times in kernels.items():
        load[key[3]] += times
    rank = {stream: number for number, (stream, _) in enumerate(load.most_common())}
    return {(*key[:3], rank[key[3]]): times for key, times in kernels.items()}


def medians(windows):
    """{name: median duration} over all of these windows."""
    pooled = collections.defaultdict(list)
    for _, times, _ in windows:
        for name, values in times.items():
            pooled[name] += values
    return {name: statistics.median(values) for name, values in pooled.items()}


def apart(ours, theirs):
    """{name: both medians} where they differ by more than is allowed."""
    return {name[:60]: (round(ours[name]), round(theirs[name])) for name in set(ours) & set(theirs)
            if abs(ours[name] - theirs[name]) > max(RELATIVE * theirs[name], ABSOLUTE)}


def farthest(ours, theirs):
    """In words: how far the medians are apart at most."""
    differences = [(abs(ours[name] - theirs[name]), theirs[name]) for name in set(ours) & set(theirs)]
    if not differences:
        return "nothing to compare"
    return (f"at most {max(d for d, _ in differences):.0f} ns and {max(d / of for d, of in differences) * 100:.2f} %, "
            f"{len(apart(ours, theirs))} of {len(differences)} too far")


def check_durations(ours, theirs):
    """Medians by name, over all windows; beside it how far each is from itself, odd windows against even ones."""
    for whose, windows in (("torch.profiler", theirs), ("Sonde", ours)):
        note(f"medians of {whose}, odd and even windows: {farthest(medians(windows[1::2]), medians(windows[0::2]))}")
    note(f"medians of Sonde and torch.profiler: {farthest(medians(ours), medians(theirs))}")
    differing = apart(medians(ours), medians(theirs))
    holds("torch: median duration of each kernel", medians(ours) and not differing, differing)


def test_training():
    """A deterministic training, recorded by torch.profiler and by Sonde in turn."""
    folder = os.path.join(harness.WORK, "torch_traces")
    os.makedirs(folder, exist_ok=True)
    command = python_program("torch_kernels.py", str(ROUNDS), str(STEPS), folder, need="torch")
    recorded = record("torch_kernels", command, ("-c", "cudaProfilerApi", "--capture-range-end=repeat"), seconds=120, hint=False)
    ours, theirs = measured(recorded.path), profiled(folder)
    shutil.rmtree(folder)
    told = cuda_report.diagnostics(recorded.path)
    same("torch: windows", len(ours), len(theirs), told)
    note(f"kernels in each window of Sonde's {[sum(window[0].values()) for window in ours]}, of torch.profiler's "
         f"{[sum(window[0].values()) for window in theirs]}, of {len(medians(ours))} and {len(medians(theirs))} names")
    for number, (mine, other) in enumerate(zip(ours, theirs)):
        if by_rank(mine[0]) != by_rank(other[0]) or mine[2] != dict(other[2]) or number == len(theirs) - 1:
            same("torch: kernels, names, grids, blocks, streams", by_rank(mine[0]), by_rank(other[0]), (f"in window {number}", told))
            same("torch: copies and sets", mine[2], dict(other[2]), f"in window {number}")
            break
    check_durations(ours, theirs)
    odd = [f["name"] for f in cuda_report.functions(recorded.path).values() if f["mangled"] and f["short_name"] not in f["name"]]
    holds("torch: whole names have the short ones in them", not odd, odd[:3])


def test_profiler():
    """A program that uses torch.profiler keeps its result, and Sonde says that it stepped back."""
    command = python_program("torch_profiled.py", need="torch")
    alone = [json.loads(line) for line in plain(command, seconds=90).stdout.splitlines() if line.startswith("{")]
    recorded = record("torch_profiled", command, seconds=90, hint=False)
    same("torch.profiler under Sonde: its own result", recorded.told("profiler"), alone)
    told = cuda_report.diagnostics(recorded.path, 1)
    holds("torch.profiler under Sonde: a diagnostic", any("CUPTI" in text for text in told), told)
    kernels = sum(times for name, times in cuda_report.kernel_counts(recorded.path, name="name").items() if "spin" in name)
    note(f"{kernels} of 60 kernels in the report (20 before, 30 in and 10 after torch.profiler's window); {told}")
    holds("torch.profiler under Sonde: what came before is there", kernels >= 20, kernels)


def test_torch_graph():
    """torch.cuda.CUDAGraph, node by node and as a whole."""
    command = python_program("torch_graph.py", need="torch")
    recorded = record("torch_nodes", command, ("--cuda-graph-trace=node",), seconds=90, hint=False)
    path, replays = recorded.path, recorded.told("graph")[0]["launches"]
    inside = {}
    for name in ("eager", "replays"):
        start, end = in_range(path, name)
        inside[name] = cuda_report.count(path, "gpu_kernel", f'where start >= {start} and "end" <= {end}')
    holds("torch graph: nodes", inside["eager"] > 0 and inside["replays"] == replays * inside["eager"], inside)
    start, end = in_range(path, "capture")
    made = f"time >= {start} and time <= {end} and type = 0"
    # The graph that was captured comes first; those made of it have nodes of their own.
    nodes = cuda_report.count(path, "cuda_graph_node", f"where {made} and graph = (select min(graph) from sonde_cuda_graph_node where {made})")
    clones = cuda_report.count(path, "cuda_graph_node", f"where {made} and original is not null")
    same("torch graph: nodes made in the capture, and their clones", (nodes, clones), (inside["eager"],) * 2,
         cuda_report.grouped(path, "cuda_graph_node", ("type", "original")))
    whole = record("torch_graphs", command, ("--cuda-graph-trace=graph",), seconds=90, hint=False)
    same("torch graph: as a whole", cuda_report.count(whole.path, "gpu_graph"), replays)


def check_ranks(what, recorded):
    """The spinning kernels of each process are its own."""
    pids = {p["uid"]: p["pid"] for p in cuda_report.rows(recorded.path, "process", ("uid", "pid"))}
    tracks = {t["id"]: pids.get(t["process"]) for t in cuda_report.rows(recorded.path, "track", ("id", "process"))}
    names, ways = cuda_report.functions(recorded.path), cuda_report.launches(recorded.path)
    found = collections.Counter()
    for (launch, track), times in cuda_report.grouped(recorded.path, "gpu_kernel", ("launch", "track")).items():
        if "spin" in names[ways[launch]["function"]]["name"]:
            found[tracks[track]] += times
    same(f"{what}: kernels of each process", dict(found), {line["pid"]: line["spins"] for line in recorded.told("rank")},
         cuda_report.diagnostics(recorded.path))


def test_torchrun():
    """Two processes on one GPU, started by torchrun."""
    command = python_program("torch_ranks.py", need="torch")
    launcher = [command[0], "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", *command[1:]]
    recorded = record("torchrun", launcher, seconds=90, hint=False, env={"OMP_NUM_THREADS": "2"})
    same("torchrun: both ran", len(recorded.told("rank")), 2)
    check_ranks("torchrun", recorded)


def test_spawn():
    """Two processes, started by multiprocessing."""
    recorded = record("spawn", python_program("torch_ranks.py", "spawn", need="torch"), seconds=90, hint=False)
    check_ranks("spawned", recorded)


def check_named(what, script, module):
    recorded = record(module, python_program(script, need=module), seconds=90, hint=False)
    line = recorded.told("kernel")[0]
    found = {kernel: times for kernel, times in cuda_report.kernels(recorded.path).items() if kernel.name == line["name"]}
    same(f"{what}: {line['name']}", ({kernel.grid for kernel in found}, sum(found.values())), ({tuple(line["grid"])}, line["count"]),
         cuda_report.diagnostics(recorded.path))
    holds(f"{what}: its result", line["right"], line)


def test_triton():
    """A kernel of Triton's."""
    check_named("Triton", "triton_kernels.py", "triton")


def test_cupy():
    """A kernel of CuPy's."""
    check_named("CuPy", "cupy_kernels.py", "cupy")


def test_jax():
    """Kernels compiled by XLA."""
    recorded = record("jax", python_program("jax_kernels.py", need="jax"), seconds=90, hint=False)
    line = recorded.told("times")[0]
    if line["platform"] != "gpu":
        return report("JAX", f"it ran on {line['platform']}")
    found = cuda_report.kernel_counts(recorded.path, name="name")
    note(f"JAX: {dict(sorted(found.items(), key=lambda item: -item[1])[:5])}")
    return holds("JAX: kernels of the compiled function", any(times >= line["least"] for times in found.values()), found)


TESTS = {
    "torch_kernels": test_training, "torch_profiler": test_profiler, "torch_graph": test_torch_graph, "torchrun": test_torchrun,
    "spawn": test_spawn, "triton": test_triton, "cupy": test_cupy, "jax": test_jax,
}
