"""A launch-bound training step of PyTorch: what Sonde and bare CUPTI add to it, compared within one process. Processes of the same program
differ by ten points and more, so that figures of different processes say nothing."""
import json
import os
import statistics

import bench
import gpu_cuda
import suite
from gpu_cuda import judged, row, run, sonde

ROUNDS = 24
SECONDS = 60  # of rounds; the process takes some 15 more to start
LIMIT = 3.0   # points over bare CUPTI
WINDOWS = ("-c", "cudaProfilerApi", "--capture-range-end=repeat")
# As bare_cupti.c numbers them: what the agent does besides.
SETTINGS = {"1": "resource callbacks", "2": "callbacks of managed memory", "4": "clock", "8": "zeroed buffers", "16": "system's thread ids",
            "32": "cuptiSubscribe_v2", "63": "all of these"}


def command(mode, *arguments):
    return suite.python_program("torch_step.py", mode, *map(str, arguments), need="torch")


def numbers(text):
    """The JSON that torch_step.py prints."""
    for line in text.splitlines():
        if line.startswith(("[", "{")):
            try:
                return json.loads(line)
            except ValueError:
                continue
    return None


def added(rounds, kind):
    """Percent of each round: a window against the mean of what was alone before and after it."""
    result = []
    for one in rounds:
        at = one["order"].index(kind)
        result.append((one["inside"][at] / statistics.mean(one["alone"][at:at + 2]) - 1) * 100)
    return result


def stays(rounds, kind):
    """Percent of each round: alone after a window against alone before it."""
    places = [(one["alone"], one["order"].index(kind)) for one in rounds]
    return [(alone[at + 1] / alone[at] - 1) * 100 for alone, at in places]


def alone_again(rounds):
    """A/A, percent of each round: alone in the middle against the mean of its neighbours."""
    return [(one["alone"][1] / statistics.mean((one["alone"][0], one["alone"][2])) - 1) * 100 for one in rounds]


def halves(values):
    """A/A between rounds: the median of the odd ones less that of the even ones."""
    return statistics.median(values[1::2]) - statistics.median(values[0::2])


def quartiles(values):
    low, _, high = statistics.quantiles(values, n=4)
    return f"{low:.1f} to {high:.1f}"


def describe(rounds, names):
    times = {name: statistics.median(one["inside"][one["order"].index(kind)] for one in rounds) for kind, name in names.items()}
    times["alone"] = statistics.median(value for one in rounds for value in one["alone"])
    print(f"training step, {len(rounds)} rounds in one process: " + ", ".join(f"{name} {value:.0f} us" for name, value in times.items()), flush=True)
    for kind, name in names.items():
        left = stays(rounds, kind)
        row(f"training step: added by {name}", statistics.median(added(rounds, kind)), unit="%", result=f"quartiles {quartiles(added(rounds, kind))}")
        row(f"training step: after a window of {name}, against before it", statistics.median(left), unit="%", result=f"quartiles {quartiles(left)}")


def recorded(found):
    """Whether both had the same kernels and calls of a step."""
    kernels, calls, steps = found["counted"]
    path = os.path.join(bench.WORK, "bench.sonde")
    ours = gpu_cuda.kernels() / found["steps"], int(bench.ask(path, "select count(*) from sonde_cuda_api")[0]) / found["steps"]
    print(f"recorded of a step: Sonde {ours[0]:.2f} kernels and {ours[1]:.2f} calls, bare CUPTI {kernels / steps:.2f} and {calls / steps:.2f}; "
          f"CUPTI of Sonde {set(bench.ask(path, 'select path from sonde_cuda_clock'))}, of the bare library {found['cupti']}", flush=True)
    return ours[0] == kernels / steps and abs(ours[1] - calls / steps) < 0.02 * calls / steps


def step(machine):
    """Sonde beside bare CUPTI; where it costs too much, which of its settings do."""
    output = sonde(command("compare", ROUNDS, min(SECONDS, suite.time_left() - 25), machine.bare, "sonde", "0"), trace="cuda,nvtx", options=WINDOWS,
                   seconds=SECONDS + 60)
    found = numbers(output)
    if not found:
        return print(f"training step: no result; {gpu_cuda.said(os.path.join(bench.WORK, 'bench.sonde'))}")
    rounds = found["rounds"]
    describe(rounds, {"sonde": "Sonde", "0": "bare CUPTI"})
    over = [a - b for a, b in zip(added(rounds, "sonde"), added(rounds, "0"))]
    again, bare = alone_again(rounds), halves(added(rounds, "0"))
    row("training step: A/A, alone and alone", statistics.median(again), unit="%", result=f"quartiles {quartiles(again)}")
    row("training step: A/A, bare CUPTI in odd and in even rounds", bare, unit="points")
    good = recorded(found)
    judged("training step: Sonde over bare CUPTI", statistics.median(over), LIMIT, "points", max(abs(statistics.median(again)), abs(bare)), good)
    print(f"  of the single rounds: quartiles {quartiles(over)}", flush=True)
    if statistics.median(over) > LIMIT and suite.time_left() > 60:
        settings(machine)
    return None


def settings(machine):
    """What each thing costs that the agent does besides."""
    found = numbers(run(command("compare", ROUNDS, min(40, suite.time_left() - 20), machine.bare, "0", *SETTINGS),
                        {**os.environ, "BARE_CUPTI": machine.cupti or ""}, seconds=90))
    if not found:
        return print("settings: no result")
    rounds, base = found["rounds"], added(found["rounds"], "0")
    describe(rounds, {"0": "bare CUPTI", **SETTINGS})
    row("training step: A/A, bare CUPTI in odd and in even rounds", halves(base), unit="points")
    for kind, name in SETTINGS.items():
        over = [a - b for a, b in zip(added(rounds, kind), base)]
        row(f"training step: over bare CUPTI, {name}", statistics.median(over), unit="points", result=f"quartiles {quartiles(over)}")
    return None


def step_peers(machine):
    """One run each, in processes of their own: to be compared with nothing but roughly."""
    whole = command("whole", 60)
    ways = {"alone": lambda: run(whole), "Sonde, its defaults": lambda: sonde(whole, trace="cuda,nvtx,osrt", quiet=False),
            "torch.profiler": lambda: run(command("profiler", 60))}
    if machine.nsys:
        ways["nsys -t cuda,nvtx"] = lambda: gpu_cuda.nsys(machine, whole, "cuda,nvtx")
    base = None
    for name, way in ways.items():
        found = numbers(way()) if suite.time_left() > 20 else None
        if found:
            middle = statistics.median(found)
            base = base or middle
            row(f"training step: {name}, one run of its own", middle, unit="us", result=f"{(middle / base - 1) * 100:+.1f} % of alone")


PARTS = {"step": step, "settings": settings, "step_peers": step_peers}
