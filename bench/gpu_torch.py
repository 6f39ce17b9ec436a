"""Recording operators of PyTorch: what it adds to a training step beside torch.profiler, compared within one process; to an operator; what is left
on the disk, and when."""
import os
import statistics
import subprocess
import time

import bench
import gpu_cuda
import suite
from gpu_cuda import judged, row, said, sonde
from gpu_step import WINDOWS, added, alone_again, command, describe, error, halves, numbers, picked, told

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = float(os.environ.get("STEP_SECONDS", "100"))  # of rounds, of some 5 s each
ROUNDS = 400
SHARE = 0.5             # of what torch.profiler adds
COSTS = {"ops": 100.0, "ops,shapes": 450.0}  # ns of an operator, over a callback that does nothing
COST_OPERATORS = 120 * 5000  # that torch_cost.py runs while a window is open
REPORT_STEPS, REPORT_SIZE, READY = 60, 6.0, 2.0  # MB, s
LEAST_OPERATORS = 200   # a step has some 900


def report():
    return os.path.join(bench.WORK, "bench.sonde")


def counted(table, where=""):
    return int(bench.ask(report(), f"select count(*) from sonde_{table} {where}")[0])


def share_of(ours, theirs, control):
    """(what we add as a share of what they add, how far that can be wrong); each a series of percents."""
    mine, other = statistics.median(ours), statistics.median(theirs)
    if other <= 0:
        return None, None
    wrong = [max(error(values), abs(halves(values)), abs(statistics.median(control))) for values in (ours, theirs)]
    return mine / other, (wrong[0] + abs(mine / other) * wrong[1]) / other


def recorded(steps):
    """Whether the report has the same operators and kernels of each step."""
    operators, kernels = counted("torch_op"), counted("gpu_kernel")
    print(f"recorded of a step: {operators / steps:.2f} operators, {kernels / steps:.2f} kernels; {said(report())}", flush=True)
    return operators >= LEAST_OPERATORS * steps and operators % steps == 0 and kernels > 0 and kernels % steps == 0


def step(values, kind):
    """--pytorch=VALUES beside torch.profiler, with shapes or without."""
    seconds = min(SECONDS, suite.time_left() - 30)
    if seconds < 30:
        return print(f"training step, --pytorch={values}: no time left")
    found = numbers(sonde(command("operators", ROUNDS, seconds, "sonde", kind), trace="cuda,nvtx", options=("--pytorch=" + values, *WINDOWS),
                          seconds=seconds + 60))
    if not found:
        return print(f"training step, --pytorch={values}: no result; {said(report())}")
    good = recorded(found["steps"])
    for how, pick in (("least chunk", min), ("median chunk", statistics.median)):
        how = f"{how}, {values}"
        rounds = picked(found["rounds"], pick)
        describe(rounds, {"sonde": "Sonde", kind: "torch.profiler"}, how)
        ours, theirs, control = added(rounds, "sonde"), added(rounds, kind), alone_again(rounds)
        told(f"{how}: A/A, alone and alone", control)
        for name, series in (("Sonde", ours), ("torch.profiler", theirs)):
            row(f"training step, {how}: A/A, {name} in odd and in even rounds", halves(series), unit="points")
        value, spread = share_of(ours, theirs, control)
        judged(f"training step, {how}: Sonde's share of torch.profiler's", value, SHARE, "", spread, good)
    return None


def ranges():
    """The library that opens the window of torch_cost.py, built here so that it surely runs."""
    library = os.path.join(bench.WORK, "libtorch_ranges.so")
    source = os.path.join(HERE, "..", "tests", "bench", "programs", "torch_ranges.c")
    include = os.path.join(HERE, "..", "include")
    subprocess.run(["gcc", "-O2", "-D_GNU_SOURCE", "-shared", "-fPIC", f"-I{include}", "-o", library, source, "-ldl"], check=True)
    return library


def operator(values, limit, library):
    """Over a callback that does nothing: while no window is open ours is a load and a branch."""
    program = [suite.python_with("torch"), os.path.join(HERE, "..", "tests", "bench", "programs", "torch_cost.py"), library]
    text = sonde(program, trace="nvtx", options=("--pytorch=" + values, "-c", "nvtx", "-p", "open", "--capture-range-end=repeat"))
    rounds = [[float(word) for word in line.split()] for line in text.splitlines() if len(line.split()) == 3]
    if not rounds:
        return print(f"an operator, --pytorch={values}: no result; {said(report())}")
    cost = statistics.median(opened - closed for closed, _, opened in rounds)
    control = abs(statistics.median(again - closed for closed, again, _ in rounds))
    there = counted("torch_op", "where name = 'aten::view'")
    print(f"--pytorch={values}: an operator takes {statistics.median(closed for closed, _, _ in rounds):.0f} ns while no window is open; "
          f"{there} of {COST_OPERATORS} are in the report", flush=True)
    return judged(f"--pytorch={values}: added to an operator, paired median", cost, limit, "ns", control, there == COST_OPERATORS)


def ended_when(text):
    """The time that the shell wrote when the program had ended."""
    return next((float(line.split()[1]) for line in text.splitlines() if line.startswith("ended ")), None)


def left():
    """Size of a report of so many steps with shapes, and how long after the program's end it is there."""
    sizes, waits, good = [], [], True
    for _ in range(3):
        program = ["sh", "-c", '"$@"; echo "ended $(date +%s.%N)"', "sh", *command("window", REPORT_STEPS)]
        text = sonde(program, trace="cuda,nvtx", options=("--pytorch=ops,shapes", *WINDOWS))
        now, ended = time.time(), ended_when(text)
        if not numbers(text) or ended is None:
            return print(f"report of {REPORT_STEPS} steps: no result; {said(report())}")
        good = recorded(REPORT_STEPS) and good
        sizes.append(os.path.getsize(report()) / 1e6)
        waits.append(now - ended)
    print("ready after " + ", ".join(f"{wait:.2f}" for wait in waits) + " s", flush=True)
    judged(f"report of {REPORT_STEPS} steps with shapes", max(sizes), REPORT_SIZE, "MB", recorded=good)
    return judged(f"report of {REPORT_STEPS} steps with shapes: ready after the program's end", max(waits), READY, "s", recorded=good)


def torch_ops(_):
    """What is short comes first."""
    if not suite.python_has("torch"):
        return print("there is no Python with torch")
    library = ranges()
    for values, limit in COSTS.items():
        operator(values, limit, library)
    left()
    step("ops", "profiler")
    step("ops,shapes", "profiler_shapes")
    return None


PARTS = {"torch_ops": torch_ops}
