"""Recording a part of a CUDA program: an NVTX window, captures of a session, attaching to one that runs."""
import json
import os
import subprocess
import sys
import time

import cuda_report
import harness
from suite import PROGRAMS as SOURCES
from suite import QUIET, holds, limit, program, record, same

KERNELS_A_STEP = 10
SONDE = os.path.join(os.environ["BUILD"], "sonde")


class Running:
    """A program that says when it is ready, and what it did when it is told to end."""

    def __init__(self, command, before=()):
        self.process = subprocess.Popen([*before, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
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


def check_steps(what, path, least=3):
    """Steps without a gap, all whole but for the first and the last."""
    steps = steps_of(path)
    numbers = sorted(steps)
    holds(f"{what}: kernels", len(numbers) >= least, f"{len(numbers)} steps; {cuda_report.diagnostics(path)}")
    if not numbers:
        return
    same(f"{what}: no gap", numbers, list(range(numbers[0], numbers[-1] + 1)))
    same(f"{what}: whole steps", {n: steps[n] for n in numbers[1:-1] if steps[n] != KERNELS_A_STEP}, {})


def test_nvtx_window():
    one = record("nvtx-window", [program("steady"), "3"], ("-c", "nvtx", "-p", "step 7"))
    same("nvtx window: its kernels", steps_of(one.path), {7: KERNELS_A_STEP}, cuda_report.diagnostics(one.path))


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


def attach(what, pid, seconds="1.5"):
    path = harness.report_path(what)
    done = sonde("attach", str(pid), "-d", seconds, *QUIET, "-t", "cuda,nvtx", "-o", path)
    same(f"{what}: sonde attach", done.returncode, 0, done.stderr)
    return path


def test_attach():
    running = Running([program("steady"), "60"])
    for turn in ("first", "second"):
        path = attach(f"attach-{turn}", running.process.pid)
        check_steps(f"attach: {turn}", path)
    same("attach: the program's end", (running.end(), running.told[-1].get("right")), (0, True))


def test_attach_torch():
    """A training in PyTorch, attached to in the middle, yields its kernels; its losses are those of an undisturbed one."""
    script = os.path.join(SOURCES, "torch_train_on.py")
    command = [sys.executable, script, "400"]
    alone = Running(command)
    alone.end()
    running = Running(command)
    path = attach("attach-torch", running.process.pid)
    same("attach to torch: the program's end", running.end(), 0)
    kernels = cuda_report.kernel_counts(path)
    holds("attach to torch: kernels", sum(kernels.values()) > 50 and len(kernels) > 3, f"{kernels} {cuda_report.diagnostics(path)}")
    same("attach to torch: the same losses", running.told[-1]["losses"], alone.told[-1]["losses"])


PROGRAMS = ("steady",)
TESTS = {"nvtx_window": test_nvtx_window, "session": test_session, "attach": test_attach, "attach_torch": test_attach_torch}
