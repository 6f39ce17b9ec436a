"""Graphs, ranges, caches both ways, one pass in a real run, and counters that are forbidden: programs/shapes.cu, whose sums are known
from its single kernels."""
import os
import shutil
import subprocess

import harness
from kernel_tests import SONDE, counted, differs, ncu_values, output, values
from suite import Skip, holds, limit, note, program, same

INSTRUCTIONS, SECTORS, READ = "smsp__inst_executed.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "dram__bytes_read.sum"
METRICS = [INSTRUCTIONS, SECTORS, READ, "lts__t_sectors_srcunit_tex_op_read.sum", "sm__warps_active.avg.pct_of_peak_sustained_active"]
# Sums over what runs: those of a graph or range are those of its kernels.
SUMS = METRICS[:2]
PARTS = ["grow", "add", "count"]


def shapes(name, *options, metrics=METRICS):
    command = [program("shapes")]
    alone = output(command).stdout
    run, path, _ = counted(name, command, *options, metrics=metrics)
    same(f"{name}: the program's result", (run.stdout, run.returncode), (alone, 0), run.stderr[-600:])
    return values(path)


def singles():
    """{kernel: {metric: value}} of those that the program launches first, one by one."""
    run, path, _ = counted("shapes-single", [program("shapes")], "-c", "3", metrics=METRICS)
    found = values(path)
    same("shapes: single kernels", [name for name, _ in found], PARTS, run.stderr[-400:])
    return dict(found)


def total(single, metric):
    return sum(single[name][metric] for name in PARTS)


def near(what, got, want, metrics=SUMS):
    far = [(m, got.get(m), want[m]) for m in metrics if got.get(m) is None or differs(m, got[m], want[m])]
    holds(what, not far, far)


def beside_ncu(what, found, *options):
    """Also as ncu has them, launch by launch; the order is the program's."""
    if not shutil.which("ncu"):
        return note(f"{what}: no ncu here")
    theirs, _ = ncu_values([program("shapes")], "--metrics", ",".join(METRICS), *options, names=METRICS)
    same(f"{what}: as many results as ncu", len(found), len(theirs))
    far = [(i, m, ours.get(m), ncu.get(m)) for i, ((_, ours), ncu) in enumerate(zip(found, theirs)) for m in METRICS
           if m in ncu and (ours.get(m) is None or differs(m, ours[m], ncu[m]))]
    return holds(f"{what}: values are ncu's", len(far) <= 0.1 * len(METRICS) * len(found), far[:8])


def test_kernel_nodes():
    single = singles()
    found = shapes("kernel-nodes", "--graph-profiling", "node", "-s", "3", "-c", "9")
    same("graph nodes: each kernel of each launch of the graph", [name for name, _ in found], PARTS * 3)
    for i, (name, got) in enumerate(found):
        near(f"graph nodes: node {i}, {name}, as launched by itself", got, single[name])
    beside_ncu("graph nodes", found, "--graph-profiling", "node", "-s", "3", "-c", "9")


def test_kernel_node_samples():
    """Kernels that a graph launches first are sampled, too."""
    command = [program("shapes"), "graph"]
    run, path, _ = counted("kernel-node-samples", command, "--graph-profiling", "node", metrics=["smsp__pcsamp_sample_count"])
    same("node samples: the program's result", (run.stdout, run.returncode), (output(command).stdout, 0), run.stderr[-400:])
    found = harness.sql(path, "select result, integer from sonde_kernel_metric where name = 'smsp__pcsamp_sample_count' and instance is null")
    errors = harness.sql(path, "select distinct text from sonde_kernel_metric where name = 'profiler__source_error'")
    holds("node samples: of each kernel of each launch", len(found) == 9 and not errors, (found, errors))


def test_kernel_whole_graph():
    single = singles()
    found = shapes("kernel-whole-graph", "--graph-profiling", "graph", "-s", "3", "-c", "3")
    same("whole graph: a result for each launch", len(found), 3)
    for i, (_, got) in enumerate(found):
        near(f"whole graph: launch {i} has the sums of its kernels", got, {m: total(single, m) for m in SUMS})
    beside_ncu("whole graph", found, "--graph-profiling", "graph", "-s", "3", "-c", "3")


def ranges(mode):
    single = singles()
    found = shapes(f"kernel-{mode}", "--replay-mode", mode)
    same(f"{mode}: one, from start to stop", len(found), 1)
    for _, got in found:
        near(f"{mode}: the sums of its kernels", got, {m: total(single, m) for m in SUMS})
        same(f"{mode}: its launches", got.get("range__launches"), 3.0)
    found = shapes(f"kernel-{mode}-nvtx", "--replay-mode", mode, "--nvtx", "--nvtx-include", "step/")
    same(f"{mode}: each range of NVTX", len(found), 2)
    for _, got in found:
        near(f"{mode}: of NVTX, the sums of its kernels", got, {m: total(single, m) for m in SUMS})


def test_kernel_ranges():
    ranges("range")


def test_kernel_app_ranges():
    ranges("app-range")


def test_kernel_shapes():
    """Everything that is launched, also cooperatively and in clusters."""
    found = shapes("kernel-all-shapes", "--graph-profiling", "node")
    same("shapes: all launches", [name for name, _ in found], PARTS * 6 + ["together", "in_clusters"] + PARTS)
    holds("shapes: all have values", all(values_of.get(INSTRUCTIONS, 0) > 0 for _, values_of in found),
          [name for name, v in found if not v.get(INSTRUCTIONS)])


def test_kernel_caches():
    """What fits in L2 is read from DRAM when caches were emptied, and is not when they were not."""
    found = shapes("kernel-both-caches", "--cache-control", "both", "-c", "3")
    for name, got in found:
        cold, warm = got.get(READ), got.get(READ + ".warm")
        holds(f"caches both ways: {name}", cold is not None and warm is not None and (name == "count" or warm < 0.5 * cold), (cold, warm))
        near(f"caches both ways: {name} does the same", {INSTRUCTIONS: got.get(INSTRUCTIONS + ".warm")}, got, [INSTRUCTIONS])


def test_kernel_fast():
    metrics = [INSTRUCTIONS, "smsp__sass_thread_inst_executed_op_integer_pred_on.sum"]
    single = singles()
    found = shapes("kernel-fast", "--fast", "-c", "3", metrics=metrics)
    same("fast: kernels", [name for name, _ in found], PARTS)
    for name, got in found:
        near(f"fast: {name}", got, single[name], [INSTRUCTIONS])


def test_kernel_forbidden():
    """As a user whom the driver does not let: launch statistics, occupancy and times are there, and a line for the administrator."""
    with open("/proc/driver/nvidia/params", encoding="ascii") as f:
        restricted = "RmProfilingAdminOnly: 1" in f.read()
    if not restricted or os.geteuid() != 0 or not shutil.which("setpriv"):
        raise Skip("needs root, setpriv, and a driver that forbids counters to others")
    path = os.path.join("/tmp", f"sonde-forbidden-{os.getpid()}.sonde")
    command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all"]
    run = subprocess.run([*command, SONDE, "kernel", "--set", "basic", "-c", "3", "-f", "-o", path, program("shapes")],
                         capture_output=True, text=True, timeout=limit(60), cwd="/tmp", env=dict(os.environ, HOME="/tmp", TMPDIR="/tmp"))
    note(run.stderr.strip()[-500:])
    same("forbidden: the program's result", run.stdout.strip().splitlines()[-1:], output([program("shapes")]).stdout.split())
    holds("forbidden: what an administrator has to set", "NVreg_RestrictProfilingToAdminUsers=0" in run.stderr + run.stdout)
    rows = harness.sql(path, "select count(distinct result), sum(name = 'launch__registers_per_thread'), sum(name = 'gpu__time_duration.sum') "
                             "from sonde_kernel_metric")
    same("forbidden: launches with registers and times", [int(cell or 0) for cell in rows[0]], [3, 3, 3])
    os.unlink(path)


PROGRAMS = ("shapes",)
TESTS = {"kernel_shapes": test_kernel_shapes, "kernel_nodes": test_kernel_nodes, "kernel_node_samples": test_kernel_node_samples, "kernel_whole_graph": test_kernel_whole_graph,
         "kernel_ranges": test_kernel_ranges, "kernel_app_ranges": test_kernel_app_ranges, "kernel_caches": test_kernel_caches,
         "kernel_fast": test_kernel_fast, "kernel_forbidden": test_kernel_forbidden}
