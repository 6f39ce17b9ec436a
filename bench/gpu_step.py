"""A launch-bound training step of PyTorch: what Sonde and bare CUPTI add to it, compared within one process. Processes of the same program
differ by ten points and more, so that figures of different processes say nothing."""
import json
import os
import statistics

import bench
import gpu_cuda
import suite
from gpu_cuda import judged, row, run, sonde

ROUNDS = 400
SECONDS = float(os.environ.get("STEP_SECONDS", "150"))  # of rounds; the process takes some 15 more to start
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


def picked(rounds, pick):
    """One value for each window, and for each time alone."""
    return [{"order": one["order"], **{key: [pick(values) for values in one[key]] for key in ("alone", "inside")}} for one in rounds]


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
    return f"{low:.3g} to {high:.3g}"


def error(values):
    """Of the median, as it would be if they were distributed normally."""
    low, _, high = statistics.quantiles(values, n=4)
    return 1.25 * (high - low) / 1.35 / len(values) ** 0.5


def told(what, values, unit="%"):
    row(f"training step, {what}", statistics.median(values), unit=unit, spread=error(values), result=f"quartiles {quartiles(values)}")


def describe(rounds, names, how):
    times = {name: statistics.median(one["inside"][one["order"].index(kind)] for one in rounds) for kind, name in names.items()}
    times["alone"] = statistics.median(value for one in rounds for value in one["alone"])
    print(f"training step, {how}, {len(rounds)} rounds in one process: " + ", ".join(f"{name} {value:.0f} us" for name, value in times.items()),
          flush=True)
    for kind, name in names.items():
        told(f"{how}: added by {name}", added(rounds, kind))
        told(f"{how}: after a window of {name}, against before", stays(rounds, kind))


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
    good = recorded(found)
    over = [compared(picked(found["rounds"], pick), how, good) for how, pick in (("least chunk", min), ("median chunk", statistics.median))]
    if min(over) > LIMIT and suite.time_left() > 60:
        settings(machine)
    return None


def compared(rounds, how, good):
    describe(rounds, {"sonde": "Sonde", "0": "bare CUPTI"}, how)
    over = [a - b for a, b in zip(added(rounds, "sonde"), added(rounds, "0"))]
    again, bare = alone_again(rounds), halves(added(rounds, "0"))
    told(f"{how}: A/A, alone and alone", again)
    row(f"training step, {how}: A/A, bare CUPTI in odd and in even rounds", bare, unit="points")
    told(f"{how}: Sonde over bare CUPTI", over, "points")
    judged(f"training step, {how}: Sonde over bare CUPTI", statistics.median(over), LIMIT, "points",
           max(error(over), abs(statistics.median(again)), abs(bare)), good)
    return statistics.median(over)


def settings(machine):
    """What each thing costs that the agent does besides."""
    found = numbers(run(command("compare", ROUNDS, min(40, suite.time_left() - 20), machine.bare, "0", *SETTINGS),
                        {**os.environ, "BARE_CUPTI": machine.cupti or ""}, seconds=90))
    if not found:
        return print("settings: no result")
    rounds = picked(found["rounds"], min)
    base = added(rounds, "0")
    describe(rounds, {"0": "bare CUPTI", **SETTINGS}, "least chunk")
    row("training step, least chunk: A/A, bare CUPTI in odd and in even rounds", halves(base), unit="points")
    for kind, name in SETTINGS.items():
        told(f"least chunk: over bare CUPTI, {name}", [a - b for a, b in zip(added(rounds, kind), base)], "points")
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
