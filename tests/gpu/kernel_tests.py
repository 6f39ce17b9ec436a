"""Counters of single kernels beside ncu's, and what reading them does to a program: nothing."""
import csv
import os
import shutil
import subprocess
import sys
import time

import harness
from suite import Skip, holds, limit, note, program, same

SONDE = os.path.join(os.environ["BUILD"], "sonde")
# Counts within 2 %, shares within 2 points.
METRICS = ["smsp__inst_executed.sum", "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "dram__bytes_read.sum",
           "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "lts__t_sectors_srcunit_tex_op_read.sum", "gpu__time_duration.sum",
           "sm__throughput.avg.pct_of_peak_sustained_elapsed", "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
           "l1tex__t_sector_hit_rate.pct", "sm__warps_active.avg.pct_of_peak_sustained_active"]


def output(command):
    return subprocess.run(command, capture_output=True, text=True, timeout=limit(90))


def counted(name, command, *options, metrics=METRICS):
    path = harness.report_path(name)
    began = time.monotonic()
    run = output([SONDE, "kernel", "--metrics", ",".join(metrics), "-f", "-o", path, *options, *command])
    return run, path, time.monotonic() - began


def values(path):
    """[(function, {metric: value})] in the order of the launches."""
    rows = harness.sql(path, "select r.id, f.short_name, m.name, coalesce(m.integer, m.real) from sonde_kernel_result r join sonde_cuda_function f "
                             "on f.id = r.function join sonde_kernel_metric m on m.result = r.id order by r.time")
    found = {}
    for number, function, name, value in rows:
        found.setdefault(int(number), (function, {}))[1][name] = float(value) if value else None
    return [found[number] for number in found]


def ncu_values(command):
    if not shutil.which("ncu"):
        raise Skip("no ncu here")
    began = time.monotonic()
    run = output(["ncu", "--clock-control", "none", "--csv", "--page", "raw", "--metrics", ",".join(METRICS), *command])
    rows = list(csv.reader(line for line in run.stdout.splitlines() if line.startswith('"')))
    found = [{name: float(cell.replace(",", "")) for name, cell in zip(rows[0], row) if name in METRICS and cell} for row in rows[2:]]
    return found, time.monotonic() - began


def too_far(ours, theirs):
    """Metrics that differ by more than 2 % (or 2 points), but for durations of kernels of a few us, which vary by more."""
    far = {}
    for name in METRICS:
        a, b = ours.get(name), theirs.get(name)
        if a is None or b is None:
            far[name] = (a, b)
        elif ".pct" in name:
            if abs(a - b) > 2:
                far[name] = (a, b)
        elif abs(a - b) > 0.02 * abs(b) + (1500 if "duration" in name else 0):
            far[name] = (a, b)
    return far


def test_kernel():
    command = [program("counted")]
    alone = output(command).stdout
    run, path, ours = counted("kernel", command)
    same("kernel: the program's result", (run.stdout.strip().splitlines()[-1:], run.returncode), (alone.strip().splitlines()[-1:], 0),
         run.stderr[-400:])
    found = values(path)
    same("kernel: each launch", [function for function, _ in found], (["in_place"] * 4 + ["multiply", "histogram", "to_host"]) * 3)
    theirs, wall = ncu_values(command)
    note(f"wall time {ours:.2f} s, ncu {wall:.2f} s: {ours / wall:.2f}")
    same("kernel: as many launches as ncu", len(found), len(theirs))
    far = {(i, found[i][0], name): pair for i in range(min(len(found), len(theirs))) if found[i][0] != "to_host"
           for name, pair in too_far(found[i][1], theirs[i]).items()}
    for place, pair in list(far.items())[:12]:
        note(f"{place}: {pair}")
    holds("kernel: counters are ncu's", len(far) <= 2, f"{len(far)} of {len(METRICS) * len(found)} values too far")


TORCH = """
import torch
torch.manual_seed(0)
a = torch.randn(1024, 1024, device='cuda'); b = torch.randn(1024, 1024, device='cuda')
x = a
for i in range(60):
    x = torch.relu(x @ b) * 0.01 + a
x.add_(1)
print(repr(float(x.double().sum())))
"""


def test_kernel_torch():
    command = [sys.executable, "-c", TORCH]
    alone = output(command).stdout.strip()
    if not alone:
        raise Skip("no torch here")
    run, path, _ = counted("kernel-torch", command, "-k", "regex:gemm", "--kernel-name-base", "demangled", "-s", "5", "-c", "20")
    same("kernel under torch: the result", run.stdout.strip(), alone, run.stderr[-400:])
    found = values(path)
    same("kernel under torch: as many as asked for", len(found), 20)
    holds("kernel under torch: they did work", all(v["sm__throughput.avg.pct_of_peak_sustained_elapsed"] > 1 for _, v in found), found[:1])


PROGRAMS = ("counted",)
TESTS = {"kernel": test_kernel, "kernel_torch": test_kernel_torch}
