"""Recording a part of a CUDA program: an NVTX window, steps of a schedule, captures of a session, the last seconds, attaching to one that
runs."""
import importlib.util
import json
import os
import subprocess
import sys
import time

import cuda_report
import harness
from suite import HERE, PROGRAMS as SOURCES
from suite import QUIET, cupti_hint, holds, limit, note, program, python_program, record, same

KERNELS_A_STEP = 10
SONDE = os.path.join(os.environ["BUILD"], "sonde")


class Running:
    """A program that says when it is ready, and what it did when it is told to end."""

    def __init__(self, command, before=(), hint=True):
        self.process = subprocess.Popen([*before, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, **(cupti_hint() if hint else {})})
        self.told = [json.loads(self.process.stdout.readline())]

    def end(self):
        out, _ = self.process.communicate("\n", timeout=limit(60))
        self.told += [json.loads(line) for line in out.splitlines() if line.startswith("{")]
        return self.process.returncode


def steps_of(path):
    """{step: kernels}, by the grid."""
    grids = {launch["id"]: launch["grid_x"] - 1 for launch in cuda_report.launches(path).values()}
    found = {}
    for (launch,), kernels in cuda_report.grouped(path, "gpu_kernel", ("launch",), "").items():
        found[grids[launch]] = found.get(grids[launch], 0) + kernels
    return found


def check_launches(what, path, most=0):
    """Each kernel has the call that launched it, but for those that were launched before the window."""
    calls = {row["correlation"] for row in cuda_report.rows(path, "cuda_api", ("correlation",), "where name like 'cuda%Launch%' or name like 'cuLaunch%'")}
    kernels = [row["correlation"] for row in cuda_report.rows(path, "gpu_kernel", ("correlation",))]
    without = sum(correlation not in calls for correlation in kernels)
    holds(f"{what}: kernels have their calls", kernels and without <= most, f"{without} of {len(kernels)} have none, {len(calls)} calls")


def check_steps(what, path, least=3):
    """Steps without a gap, all whole but for the first and the last."""
    steps = steps_of(path)
    numbers = sorted(steps)
    holds(f"{what}: kernels", len(numbers) >= least, f"{len(numbers)} steps; {cuda_report.diagnostics(path)}")
    if not numbers:
        return
    same(f"{what}: no gap", numbers, list(range(numbers[0], numbers[-1] + 1)))
    same(f"{what}: whole steps", {n: steps[n] for n in numbers[1:-1] if steps[n] != KERNELS_A_STEP}, {})
    check_launches(what, path, KERNELS_A_STEP)


def test_nvtx_window():
    one = record("nvtx-window", [program("steady"), "3"], ("-c", "nvtx", "-p", "step 7"))
    same("nvtx window: its kernels", steps_of(one.path), {7: KERNELS_A_STEP}, cuda_report.diagnostics(one.path))
    check_launches("nvtx window", one.path)


SCHEDULE = ("--schedule=wait=1,warmup=1,active=3,repeat=2", "--step-range=step")
ACTIVE = (2, 3, 4, 7, 8, 9)


def launched_in(path):
    """{step: kernels launched between its begin and the next one's}, and how many have no call; by the ranges `step N`."""
    begins = sorted((r["start"], int(r["name"].split()[1])) for r in cuda_report.rows(path, "slice", ("start", "name"))
                    if str(r["name"]).startswith("step "))
    calls = {c["correlation"]: c["start"] for c in cuda_report.rows(path, "cuda_api", ("correlation", "start"))}
    found, strays = {}, 0
    for row in cuda_report.rows(path, "gpu_kernel", ("correlation",)):
        called = calls.get(row["correlation"])
        before = [step for start, step in begins if called is not None and start <= called]
        if before:
            found[before[-1]] = found.get(before[-1], 0) + 1
        else:
            strays += 1
    return found, strays


def test_schedule():
    """The active steps of a schedule, all of them and nothing else, also where the GPU runs behind; CUPTI was warm before."""
    one = record("schedule", [program("steady"), "3"], SCHEDULE)
    same("schedule: kernels of the active steps", steps_of(one.path), {step: KERNELS_A_STEP for step in ACTIVE}, cuda_report.diagnostics(one.path))
    check_launches("schedule", one.path)
    two = record("schedule-torch", python_program("torch_steps.py", "14", need="torch"), SCHEDULE, hint=False)
    found, strays = launched_in(two.path)
    same("schedule with torch: kernels of the active steps", found, {step: step + 2 for step in ACTIVE}, cuda_report.diagnostics(two.path))
    # Work of the warm-up that was still running belongs to the GPU's picture, without its call: two warm-ups of steps 1 and 6.
    holds("schedule with torch: of warm-ups no more than was under way", strays <= 3 + 8, strays)
    note(f"kernels of warm-ups that ran into a window: {strays}")


def ranges_by_step(path):
    return {int(r["name"].split()[1]): r["end"] for r in cuda_report.rows(path, "slice", ("name", "end"))
            if str(r["name"]).startswith("step ") and r["end"] is not None}


def check_last(what, path, seconds):
    """Each step that ended before the trigger has all its kernels: what CUPTI had not delivered by then, too."""
    moment = cuda_report.number(path, "select number from sonde_meta where key = 'flight.begin_ns'") + int(seconds * 1e9)
    steps = steps_of(path)
    ended = sorted(step for step, end in ranges_by_step(path).items() if end <= moment)
    holds(f"{what}: steps", len(ended) > 100, f"{len(ended)} steps; {cuda_report.diagnostics(path, 0)}")
    same(f"{what}: kernels of all of them", {n: steps.get(n, 0) for n in ended[1:] if steps.get(n, 0) != KERNELS_A_STEP}, {})
    same(f"{what}: no gap", ended, list(range(ended[0], ended[-1] + 1)) if ended else [])
    check_launches(what, path, KERNELS_A_STEP)
    return ended


def test_flight():
    """The last two seconds before a trigger, twice."""
    name, path = f"flight{os.getpid()}", harness.report_path("flight")
    running = Running([program("steady"), "60"], [SONDE, "profile", *QUIET, "-t", "cuda,nvtx", "--flight-recorder=2s", f"--session-new={name}",
                                                  "-f", "true", "-o", path])
    ended = []
    for turn in (1, 2):
        time.sleep(3.1)
        stopped = sonde("stop", f"--session={name}")
        same(f"flight: trigger {turn}", stopped.returncode, 0, stopped.stderr)
        ended.append(check_last(f"flight {turn}", path.replace(".sonde", f".{turn}.sonde"), 2))
    same("flight: the program's end", (running.end(), running.told[-1].get("right")), (0, True))
    holds("flight: one after the other", all(ended) and ended[0][-1] < ended[1][0], [(e[0], e[-1]) for e in ended if e])


def sonde(*arguments):
    return subprocess.run([SONDE, *arguments], capture_output=True, text=True, timeout=limit(60))


def test_session():
    name = f"gpu{os.getpid()}"
    running = Running([program("steady"), "30"], [SONDE, "launch", *QUIET, "-t", "cuda,nvtx", f"--session-new={name}"])
    paths = [harness.report_path(f"session-{i}") for i in range(3)]
    for path in paths:
        time.sleep(0.3)
        began = sonde("start", f"--session={name}", "-o", path)
        time.sleep(0.5)
        ended = sonde("stop", f"--session={name}")
        same("session: start and stop", (began.returncode, ended.returncode), (0, 0), began.stderr + ended.stderr)
    same("session: the program's end", (running.end(), running.told[-1].get("right")), (0, True))
    for i, path in enumerate(paths):
        check_steps(f"session: capture {i + 1}", path)
    last = [max(steps_of(path)) for path in paths]
    holds("session: one after the other", last == sorted(set(last)), last)


def check_places(what, path, streams):
    """Contexts and streams that were made before the attach are known, and all kernels are on them."""
    contexts = cuda_report.rows(path, "cuda_context", ("uid", "id", "device", "process"))
    rows = cuda_report.rows(path, "cuda_stream", ("uid", "id", "context", "device", "process"))
    note(f"{what}: contexts {contexts}, streams {rows}")
    places = cuda_report.stream_of_track(path)
    tracks = [track for (track,) in cuda_report.grouped(path, "gpu_kernel", ("track",))]
    of_kernels = {places.get(track) for track in tracks}
    holds(f"{what}: one context, on the first device", [(c["device"]) for c in contexts] == [0], contexts)
    holds(f"{what}: kernels on {streams} stream(s) of it", None not in of_kernels and len(of_kernels) == streams, (tracks, rows))
    trace = harness.stats(path, "cuda_gpu_trace")
    kernels = [row for row in trace if row["GrdX"]]
    wrong = [row for row in kernels if "H200" not in row["Device"] and "NVIDIA" not in row["Device"] or row["Ctx"] in ("", "0") or not row["Strm"]]
    holds(f"{what}: cuda_gpu_trace has device, context and stream", kernels and not wrong, (len(kernels), wrong[:2], trace[:1]))


def attach(what, pid, seconds="1.5", options=()):
    path = harness.report_path(what)
    done = sonde("attach", str(pid), "-d", seconds, *QUIET, "-t", "cuda,nvtx", *options, "-o", path)
    same(f"{what}: sonde attach", done.returncode, 0, done.stderr)
    return path


def test_attach():
    running = Running([program("steady"), "60"])
    for turn in ("first", "second"):
        path = attach(f"attach-{turn}", running.process.pid)
        check_steps(f"attach: {turn}", path)
        check_places(f"attach: {turn}", path, 1)
    same("attach: the program's end", (running.end(), running.told[-1].get("right")), (0, True))


def test_attach_torch():
    """A training in PyTorch, attached to in the middle, yields its kernels; its losses are those of an undisturbed one."""
    script = os.path.join(SOURCES, "torch_train_on.py")
    command = [sys.executable, script, "400"]
    alone = Running(command, hint=False)
    alone.end()
    running = Running(command, hint=False)
    path = attach("attach-torch", running.process.pid)
    same("attach to torch: the program's end", running.end(), 0)
    kernels = cuda_report.kernel_counts(path)
    check_launches("attach to torch", path, 40)
    holds("attach to torch: kernels", sum(kernels.values()) > 50 and len(kernels) > 3, f"{kernels} {cuda_report.diagnostics(path)}")
    same("attach to torch: the same losses", running.told[-1]["losses"], alone.told[-1]["losses"])


def test_attach_stress():
    """Programs that are attached to again and again, several at once: none dies, and each has the results it knows."""
    program("streams")
    guests = ["streams"] + [kind for kind in ("torch", "cupy", "jax") if importlib.util.find_spec(kind)]
    done = subprocess.run([sys.executable, os.path.join(HERE, "attach_stress"), "--guests", ",".join(guests), "--seconds", "25"],
                          capture_output=True, text=True, timeout=limit(150))
    for line in done.stdout.splitlines():
        note(line)
    same(f"attach_stress: {', '.join(guests)}", done.returncode, 0, done.stderr[-300:])


PROGRAMS = ("steady", "streams")
TESTS = {
    "nvtx_window": test_nvtx_window, "schedule": test_schedule, "session": test_session, "flight": test_flight, "attach": test_attach,
    "attach_torch": test_attach_torch, "attach_stress": test_attach_stress,
}
