"""Wall time of `sonde kernel` beside ncu's: the same metrics of the same launches, caches emptied in both."""
import os
import re
import shutil
import statistics
import subprocess
import time

import bench
import suite
from gpu_cuda import judged, row

PAIRS = 20
LAUNCHES = 4  # of the program's, from its first one on
TEN = ("smsp__inst_executed.sum,smsp__sass_thread_inst_executed_op_ffma_pred_on.sum,dram__bytes_read.sum,"
       "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum,lts__t_sectors_srcunit_tex_op_read.sum,gpu__time_duration.sum,"
       "sm__throughput.avg.pct_of_peak_sustained_elapsed,gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed,"
       "l1tex__t_sector_hit_rate.pct,sm__warps_active.avg.pct_of_peak_sustained_active")


def timed(command):
    """Seconds, and kernels that were profiled."""
    began = time.monotonic()
    run = subprocess.run(command, capture_output=True, text=True, timeout=suite.limit(120), check=False)
    took = time.monotonic() - began
    return took, len(re.findall(r"100%", run.stdout + run.stderr))


def pairs(choice, seconds):
    """[(ours, ncu's, ours again)] of each round, in turn."""
    program = [suite.program("counted")]
    ours = [bench.SONDE, "kernel", *choice, "-c", str(LAUNCHES), "-f", "-o", os.path.join(bench.WORK, "kernel.sonde"), *program]
    theirs = ["ncu", "--clock-control", "none", *choice, "-c", str(LAUNCHES), "-f", "-o", os.path.join(bench.WORK, "ncu"), *program]
    until, found = time.monotonic() + seconds, []
    while len(found) < PAIRS and time.monotonic() < until and suite.time_left() > 30:
        one = [timed(ours), timed(theirs), timed(ours)]
        if any(count != LAUNCHES for _, count in one):
            print(f"kernels profiled by Sonde, ncu, Sonde: {[count for _, count in one]} of {LAUNCHES}", flush=True)
            return []
        found.append([took for took, _ in one])
    return found


def against_ncu(what, choice, limit, share):
    found = pairs(choice, suite.time_left() * share)
    if not found:
        return print(f"kernel, {what}: no result", flush=True)
    ratios = [(a + b) / 2 / ncu for a, ncu, b in found]
    again = abs(statistics.median(b / a for a, _, b in found) - 1) * statistics.median(ratios)
    row(f"kernel, {what}: Sonde, {LAUNCHES} launches, {len(found)} rounds", statistics.median(a for a, _, _ in found), unit="s")
    row(f"kernel, {what}: ncu", statistics.median(ncu for _, ncu, _ in found), unit="s")
    row(f"kernel, {what}: least of Sonde over least of ncu", min(min(a, b) for a, _, b in found) / min(ncu for _, ncu, _ in found), limit, "")
    return judged(f"kernel, {what}: Sonde over ncu", statistics.median(ratios), limit, "", again)


def beyond_passes():
    """What a launch of set basic takes beside its passes; those of the first batch also have what is made once."""
    found = []
    path = os.path.join(bench.WORK, "kernel.sonde")
    for _ in range(3):
        timed([bench.SONDE, "kernel", "--set", "basic", "-f", "-o", path, suite.program("counted")])
        found += [float(line) / 1e6 for line in bench.ask(path, "select a.integer - b.integer from sonde_kernel_metric a join sonde_kernel_metric b "
                  "using (result) where a.name = 'profiler__replayer_time' and b.name = 'profiler__replayer_time_in_passes'") if line]
    if not found:
        return print("kernel, set basic: no result", flush=True)
    row(f"kernel, set basic: a launch, beyond its passes: mean of {len(found)}", statistics.mean(found), 5.0, "ms")
    row("kernel, set basic: a launch, beyond its passes: most", max(found), 5.0, "ms")
    return judged("kernel, set basic: a launch, beyond its passes: median", statistics.median(found), 5.0, "ms")


def kernel(_):
    if not shutil.which("ncu"):
        return print("kernel: there is no ncu here", flush=True)
    suite.build_programs(("counted",))
    beyond_passes()
    against_ncu("set full", ("--set", "full"), 0.4, 0.76)
    return against_ncu("ten metrics", ("--metrics", TEN), 0.6, 0.95)


PARTS = {"kernel": kernel}
