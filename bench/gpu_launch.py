"""What Sonde and bare CUPTI add to a launch, compared within one process: see gpu_step.py for why."""
import json
import os
import statistics

import bench
import gpu_cuda
import suite
from gpu_cuda import judged, row, sonde
from gpu_step import WINDOWS, error, halves, picked, quartiles

SECONDS = 60
LIMIT = 0.2  # us over bare CUPTI


def taken_apart(round_):
    """[alone, inside, alone, inside, alone] as gpu_step.py has it."""
    return {"order": round_["order"], "alone": round_["times"][0::2], "inside": round_["times"][1::2]}


def added(rounds, kind):
    """us of each round: a window against the mean of what was alone before and after it."""
    result = []
    for one in rounds:
        at = one["order"].index(kind)
        result.append((one["inside"][at] - statistics.mean(one["alone"][at:at + 2])) / 1000)
    return result


def alone_again(rounds):
    return [(one["alone"][1] - statistics.mean((one["alone"][0], one["alone"][2]))) / 1000 for one in rounds]


def compared(rounds, how, good):
    ours, bare = added(rounds, "sonde"), added(rounds, "0")
    over, again = [a - b for a, b in zip(ours, bare)], statistics.median(alone_again(rounds))
    alone = statistics.median(value for one in rounds for value in one["alone"])
    print(f"launch, {how}, {len(rounds)} rounds in one process: alone {alone:.0f} ns", flush=True)
    for name, values in (("Sonde", ours), ("bare CUPTI", bare), ("Sonde over bare CUPTI", over)):
        row(f"launch, {how}: added by {name}", statistics.median(values), unit="us", spread=error(values), result=f"quartiles {quartiles(values)}")
    row(f"launch, {how}: A/A, alone and alone", again, unit="us")
    row(f"launch, {how}: A/A, bare CUPTI in odd and in even rounds", halves(bare), unit="us")
    judged(f"launch, {how}: Sonde over bare CUPTI", statistics.median(over), LIMIT, "us", max(error(over), abs(again), abs(halves(bare))), good)


def launch_within(machine):
    command = [suite.program("launch_compare"), str(min(SECONDS, suite.time_left() - 15)), machine.bare]
    output = sonde(command, options=WINDOWS, seconds=SECONDS + 60)
    try:
        found = json.loads(output)
    except ValueError:
        return print(f"launch: no result ({output[:200]}); {gpu_cuda.said(os.path.join(bench.WORK, 'bench.sonde'))}")
    rounds = [taken_apart(one) for one in found["rounds"]]
    missing = found["launched"] - gpu_cuda.kernels()
    print(f"launches that are not in the report: {missing} of {found['launched']}", flush=True)
    for how, pick in (("least batch", min), ("median batch", statistics.median)):
        compared(picked(rounds, pick), how, not missing)
    return None


PARTS = {"launch_within": launch_within}
