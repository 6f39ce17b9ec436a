"""CUDA: what recording costs beside the program alone, beside the least a tool can do with CUPTI, and beside Nsight Systems."""
import glob
import os
import re
import shutil
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "gpu"))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "bench"))
import bench  # noqa: E402
import suite  # noqa: E402

PAIRS = 20
SLOW_PAIRS = 4     # of a tool that takes seconds to start
MILLION = 1000000
BATCHES = 200
LAUNCHES = (BATCHES + 20) * 500  # as launch_cost makes them
PROGRAMS = ("launch_cost", "launch_compare", "launches")


class Machine:
    """What is found once: the peer, CUPTI, the bare library."""

    def __init__(self):
        found = glob.glob("/opt/nvidia/**/target-linux-x64/nsys", recursive=True) + glob.glob("/usr/local/cuda*/bin/nsys")
        self.nsys = found[0] if found else None
        suite.build_programs(PROGRAMS)
        self.bare = self.build_bare()
        self.cupti = self.find_cupti()
        print(f"Nsight Systems: {self.nsys or 'not installed'}; CUPTI: {self.cupti}", flush=True)
        self.try_bare()

    def try_bare(self):
        """It counts only when it is given records."""
        done = subprocess.run([suite.program("launch_cost"), "20"], capture_output=True, text=True, timeout=suite.limit(60), check=False,
                              env=self.bare_environment(BARE_CUPTI_SAY="1"))
        print("; ".join(done.stderr.split("\n")), flush=True)
        found = re.search(r"(\d+) bytes of records, (\d+) calls", done.stderr)
        if not found or int(found.group(1)) < 40 * 500 * 200 or int(found.group(2)) < 40 * 500:
            print("bare CUPTI gets no records: it is left out", flush=True)
            self.cupti = None

    def build_bare(self):
        library = os.path.join(bench.WORK, "libbare.so")
        source = os.path.join(HERE, "..", "tests", "gpu", "programs", "bare_cupti.c")
        include = os.path.join(HERE, "..", "src")
        subprocess.run(["gcc", "-O2", "-shared", "-fPIC", f"-I{include}", "-o", library, source, "-ldl", "-lpthread"], check=True)
        return library

    def find_cupti(self):
        """The one that Sonde uses."""
        path = os.path.join(bench.WORK, "found.sonde")
        sonde([suite.program("launch_cost"), "2"], path)
        try:
            return bench.ask(path, "select path from sonde_cuda_clock")[0]
        except (IndexError, subprocess.CalledProcessError):
            known = suite.cupti_hint().get("SONDE_CUPTI") or (suite.find_files("libcupti.so.1[1-9]") or [None])[-1]
            print(f"Sonde found no CUPTI: {said(path)}", flush=True)
            return known

    def bare_environment(self, **more):
        return {**os.environ, "CUDA_INJECTION64_PATH": self.bare, "BARE_CUPTI": self.cupti or "libcupti.so", **more}


def said(path):
    try:
        return bench.plain([bench.SONDE, "sql", path, "select text from sonde_diagnostic", "-f", "csv:nohdr"]).splitlines()
    except subprocess.CalledProcessError:
        return []


def run(command, env=None, seconds=90):
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=suite.limit(seconds), check=False)
    except subprocess.TimeoutExpired:
        print(f"({os.path.basename(command[0])}: no end within {suite.limit(seconds):.0f} s)", flush=True)
        return ""
    if done.returncode != 0:
        print(f"({os.path.basename(command[0])}: status {done.returncode}: {done.stderr.strip()[-200:]})", flush=True)
    return done.stdout


def sonde(command, path=None, trace="cuda", options=(), quiet=True, seconds=90):
    path = path or os.path.join(bench.WORK, "bench.sonde")
    environment = {**os.environ, **suite.cupti_hint()}
    tool = [bench.SONDE, "profile", "-t", trace, *(suite.QUIET if quiet else ()), "-f", "true", "-o", path]
    return run([*tool, *options, *command], environment, seconds)


def nsys(machine, command, trace="cuda", options=(), seconds=120):
    out = os.path.join(bench.WORK, "peer")
    for old in glob.glob(out + ".*"):
        os.unlink(old)
    tool = [machine.nsys, "profile", "-t", trace, *suite.QUIET, "-f", "true", "-o", out]
    return run([*tool, *options, *command], None, seconds)


def peer_size():
    return sum(os.path.getsize(path) for path in glob.glob(os.path.join(bench.WORK, "peer.*")))


def three(text):
    """The line of three numbers that launch_cost prints."""
    for line in text.splitlines():
        words = line.split()
        if len(words) == 3 and all(re.fullmatch(r"[\d.-]+", word) for word in words):
            return [float(word) for word in words]
    return None


def rounds(ways, count=PAIRS, slow=(), until=None):
    """Runs the ways in turn, each time beginning with another one; slow ones only a few times. {way: [result of each round]}."""
    result, names = {name: [] for name in ways}, list(ways)
    for i in range(count):
        if suite.time_left() < 10 or (until and time.monotonic() > until):
            print(f"(no time left after {i} rounds)", flush=True)
            break
        for name in names[i % len(names):] + names[:i % len(names)]:
            if name not in slow or i < SLOW_PAIRS:
                result[name].append(ways[name]())
    return result


def column(series, name, which):
    return [values[which] for values in series.get(name, []) if values]


def paired(series, name, base, which):
    """Median of the differences between runs of the same round."""
    pairs = [(a[which], b[which]) for a, b in zip(series.get(name, []), series.get(base, [])) if a and b]
    return statistics.median(a - b for a, b in pairs) if pairs else None


def share(part, whole):
    """Percent; None of nothing."""
    return None if part is None else part / whole * 100


def verdict(value, limit, spread):
    if value is None or spread is None or spread >= limit:
        return "CANNOT TELL"
    return "PASS" if value <= limit else "FAIL"


def row(what, value, limit=None, unit="", spread=None, result=""):
    shown = ["-" if number is None else f"{number:.3f}" for number in (value, limit, spread)]
    if result == "FAIL":
        bench.missed.append(what)
    print(f"{what:62} {shown[0]:>10} {shown[1]:>10} {unit:8} {shown[2]:>9}  {result}", flush=True)


def judged(what, value, limit, unit, spread=0.0, recorded=True):
    """A cost counts only when the kernels are in the report."""
    row(what, value, limit, unit, spread, verdict(value, limit, spread) if recorded else "NOTHING RECORDED")


def kernels(path=None):
    return int(bench.ask(path or os.path.join(bench.WORK, "bench.sonde"), "select count(*) from sonde_gpu_kernel")[0])


def against_nsys(added, kind, spread, good):
    """Less than what CUPTI takes for kernels alone no tool can do that has them from CUPTI."""
    limit, floor = 0.4 * added["nsys"], added.get("bare, no API")
    if floor is not None:
        row(f"launch: added by bare CUPTI for kernels alone, {kind}", floor, limit, "us", spread, "ABOVE 0.4 of nsys" if floor > limit else "")
    if floor is not None and floor > limit and added["sonde"] > limit:
        row(f"launch: added by Sonde, against 0.4 of nsys's, {kind}", added["sonde"], limit, "us", spread, "NOT WITH CUPTI")
    else:
        judged(f"launch: added by Sonde, against 0.4 of nsys's, {kind}", added["sonde"], limit, "us", spread, good)


def launch(machine):
    """Added to a launch: by bare CUPTI, by Sonde, by Nsight Systems."""
    command = [suite.program("launch_cost"), str(BATCHES)]
    size, missing = [], []

    def ours():
        found = three(sonde(command))
        if found:
            size.append(os.path.getsize(os.path.join(bench.WORK, "bench.sonde")) / LAUNCHES)
            missing.append(LAUNCHES - kernels())
        return found
    ways = {"alone": lambda: three(run(command)), "again": lambda: three(run(command)), "sonde": ours}
    if machine.cupti:
        ways["bare"] = lambda: three(run(command, machine.bare_environment()))
        ways["bare, no API"] = lambda: three(run(command, machine.bare_environment(BARE_CUPTI_CALLS="none")))
    if machine.nsys:
        ways["nsys"] = lambda: three(nsys(machine, command))
    series = rounds(ways, slow=("nsys",))
    good = bool(missing) and not any(missing)
    if not good:
        print(f"kernels missing in the reports: {missing}; {said(os.path.join(bench.WORK, 'bench.sonde'))}", flush=True)
    for which, kind in ((1, "median batch"), (2, "whole run, waits included")):
        middle = {name: statistics.median(column(series, name, which)) for name in ways if column(series, name, which)}
        print(f"launch, {kind}: " + ", ".join(f"{name} {value:.0f} ns" for name, value in middle.items()), flush=True)
        spread = abs(paired(series, "again", "alone", which) or 0) / 1000
        added = {name: (paired(series, name, "alone", which) or 0) / 1000 for name in ways if column(series, name, which)}
        for name in ("bare", "nsys"):
            if name in added:
                row(f"launch: added by {name}, {kind}", added[name], unit="us", spread=spread)
        over = paired(series, "sonde", "bare", which)
        judged(f"launch: Sonde over bare CUPTI, {kind}", over / 1000 if over is not None else None, 0.2, "us", spread, good)
        if "nsys" in added:
            against_nsys(added, kind, spread, good)
    least = {name: min(column(series, name, 0)) for name in ways if column(series, name, 0)}
    if "bare" in least and "sonde" in least:
        judged("launch: Sonde over bare CUPTI, least batch of all", (least["sonde"] - least["bare"]) / 1000, 0.2, "us",
               abs(least["alone"] - least["again"]) / 1000, good)
    if size:
        judged("report: bytes per launch (API + kernel)", statistics.median(size), 16.0, "bytes", recorded=good)
    if machine.nsys and peer_size():
        row("Nsight Systems: bytes per launch", peer_size() / LAUNCHES, unit="bytes")


def pinned(command):
    """On one CPU: which one it is makes more difference than what is measured here."""
    return ["taskset", "-c", str(max(os.sched_getaffinity(0))), *command] if shutil.which("taskset") else command


def after_a_window():
    """A window that was open and has been closed: nothing of it stays."""
    command = pinned([suite.program("launch_cost"), "after", str(BATCHES)])
    closed = ("-c", "cudaProfilerApi", "--capture-range-end=repeat")
    ways = {"alone": lambda: three(run(command)), "closed": lambda: three(sonde(command, options=closed)),
            "again": lambda: three(run(command))}
    series = rounds(ways, until=time.monotonic() + suite.time_left() * 0.7)
    there = kernels() == 20 * 500
    for which, kind in ((0, "least batch"), (1, "median batch")):
        base = statistics.median(column(series, "alone", which))
        spread = abs(paired(series, "again", "alone", which)) / base * 100
        cost = (paired(series, "closed", "alone", which) + paired(series, "closed", "again", which)) / 2 / base * 100
        judged(f"after a window was closed: added to a launch, {kind}", cost, 1.0, "%", spread, there)


def window(_):
    """Outside of a window that is never opened: nothing measurable. Long enough that the beginning, when CUPTI is still there, is a small part."""
    command = pinned([suite.program("launch_cost"), str(2 * BATCHES)])
    closed = ("-c", "cudaProfilerApi", "--capture-range-end=stop")
    ways = {"alone": lambda: three(run(command)), "closed": lambda: three(sonde(command, options=closed)),
            "again": lambda: three(run(command))}
    series = rounds(ways, until=time.monotonic() + suite.time_left() * 0.8)
    # Streams are known whether a window is open or not: the agent was there.
    path = os.path.join(bench.WORK, "bench.sonde")
    there = int(bench.ask(path, "select count(*) from sonde_cuda_stream")[0]) > 0 and kernels() == 0
    if not there:
        print(f"the agent was not there, or the window was open: {said(path)}", flush=True)
    for which, kind in ((0, "least batch"), (1, "median batch"), (2, "whole run")):
        base = statistics.median(column(series, "alone", which))
        spread = abs(paired(series, "again", "alone", which)) / base * 100
        cost = (paired(series, "closed", "alone", which) + paired(series, "closed", "again", which)) / 2 / base * 100
        judged(f"outside of a window: added to a launch, {kind}", cost, 1.0, "%", spread, there)
    after_a_window()


def million(_):
    """A million kernels from four threads: what is left, when it is ready, how long questions take."""
    path = os.path.join(bench.WORK, "million.sonde")
    ready, size, lost = [], [], 0
    for _ in range(3):
        began = time.monotonic()
        sonde([suite.program("launches"), str(MILLION), "4"], path, trace="cuda,nvtx", seconds=120)
        took = time.monotonic() - began
        ended = int(bench.ask(path, 'select max("end") from sonde_process')[0]) / 1e9
        ready.append(took - ended)
        size.append(os.path.getsize(path) / MILLION)
        lost += sum(bench.losses(path).values())
    found = kernels(path)
    if not found:
        return print(f"million launches: no kernels in the report: {said(path)}")
    seconds = ", ".join(f"{value:.2f}" for value in ready)
    print(f"million launches, three times: {found} kernels in the last report, {lost} lost, ready after {seconds} s", flush=True)
    judged("million launches: kernels that are missing", float(MILLION - found + lost), 0.5, "")
    judged("million launches: report ready after the program's end", max(ready), 1.0, "s")
    judged("million launches: bytes per launch", max(size), 16.0, "bytes")
    for report in ("cuda_gpu_kern_sum", "cuda_api_sum", "cuda_kern_exec_sum", "cuda_gpu_trace", "nvtx_gpu_proj_sum"):
        began = time.monotonic()
        question = [bench.SONDE, "stats", "-r", report, "-f", "csv", path]
        done = subprocess.run(question, capture_output=True, text=True, timeout=suite.limit(60), check=False)
        problem = "" if done.returncode == 0 else done.stderr.strip()[:60]
        row(f"million launches: stats {report}", time.monotonic() - began, unit="s", result=problem)
    os.unlink(path)
    return None


def metrics(_):
    """GPU metrics at 10 kHz: what the target loses."""
    began = time.monotonic()
    until = began + suite.time_left()
    for mode, what, which, part in (("200", "launches", 2, 0.6), ("work", "work of the GPU", 1, 0.9)):
        command = pinned([suite.program("launch_cost"), mode])
        options = ("--gpu-metrics-devices=all",)
        ways = {"alone": lambda c=command: three(run(c)), "metrics": lambda c=command: three(sonde(c, trace="none", options=options)),
                "again": lambda c=command: three(run(c)), "none": lambda c=command: three(sonde(c, trace="none"))}
        series = rounds(ways, slow=("none",), until=until - (1 - part) * (until - began))
        there = sampled()
        base = column(series, "alone", which)
        if not base:
            return print("metrics: the program did not run")
        spread = abs(paired(series, "again", "alone", which) or 0) / statistics.median(base) * 100
        whole = statistics.median(base)
        judged(f"GPU metrics at 10 kHz: added to {what}", share(paired(series, "metrics", "alone", which), whole), 2.0, "%", spread, there > 0)
        row(f"NVML at 10 Hz: added to {what}", share(paired(series, "none", "alone", which), whole), unit="%", spread=spread)
    return None


def sampled():
    """How many samples of hardware metrics one run gives."""
    path = os.path.join(bench.WORK, "sampled.sonde")
    sonde([suite.program("launch_cost"), "work"], path, trace="none", options=("--gpu-metrics-devices=all",))
    tracks = bench.ask(path, "select track from sonde_gpu_metric where source = 2")
    counted = int(bench.ask(path, f"select count(*) from sonde_counter where track in ({','.join(tracks) or '0'})")[0])
    size = os.path.getsize(path) / 1e6
    print(f"{len(tracks)} metrics, {counted} samples in one run, report of {size:.2f} MB, {said(path)}", flush=True)
    return counted


PARTS = {"launch": launch, "window": window, "million": million, "metrics": metrics}
