"""The state of the GPU over time: NVML, hardware metrics, context switches."""
import re
import statistics
import subprocess

import cuda_report
import harness
from suite import Skip, holds, note, program, python_program, record, report

PHASE = "0.6"  # seconds
NVML, HARDWARE = 1, 2
SLACK = 20000  # ns by which the clocks may differ
SAMPLES_LOST, SWITCHES_LOST = 11, 12


def phases(path):
    return {r["name"]: (r["start"], r["end"]) for r in cuda_report.rows(path, "slice", ("name", "start", "end"))}


def metrics(path, source):
    return cuda_report.rows(path, "gpu_metric", ("track", "gpu", "source", "name", "metric", "unit", "hz"), f"where source = {source}")


def find(table, *patterns):
    """The first metric that one of the patterns is found in."""
    for pattern in patterns:
        for metric in table:
            if re.search(pattern, f"{metric['name']} | {metric['metric']}", re.IGNORECASE):
                return metric
    return None


def mean(path, metric, span, margin=0.15):
    """Of the samples in the middle of a span; None where there are none."""
    edge = (span[1] - span[0]) * margin
    found = harness.sql(path, "select avg(coalesce(real, integer)), count(*) from sonde_counter "
                              f"where track = {metric['track']} and time between {span[0] + edge} and {span[1] - edge}")
    return float(found[0][0]) if found and found[0][0] else None


def test_nvml():
    """Ten times a second, values that fit what the program did."""
    recorded = record("nvml", [program("busy"), "1.0"])
    path, table = recorded.path, metrics(recorded.path, NVML)
    if not table:
        return report("NVML", f"no metrics: {cuda_report.diagnostics(path, 1)}")
    spans = phases(path)
    note("NVML: " + ", ".join(f"{m['name']} [{m['unit']}]" for m in table))
    rates = {}
    for metric in table:
        samples, first, last = map(cuda_report.value, harness.sql(
            path, f"select count(*), min(time), max(time) from sonde_counter where track = {metric['track']}")[0])
        if samples > 1:
            rates[metric["name"]] = (samples - 1) / ((last - first) / 1e9)
    note("samples a second: " + ", ".join(f"{name} {rate:.1f}" for name, rate in rates.items()))
    holds("NVML: ten times a second", rates and 8 <= statistics.median(rates.values()) <= 12, rates)
    for what, patterns, phase, least, most in (
            ("utilisation while busy", (r"^gpu utili[sz]ation", "utilization.*gpu", "utili"), "compute", 50, 100),
            ("power in mW", ("power",), "compute", 50_000, 2_000_000), ("temperature", ("temperature",), "compute", 15, 110)):
        metric = find(table, *patterns)
        found = metric and mean(path, metric, spans[phase])
        holds(f"NVML: {what}", found is not None and least <= found <= most, f"{metric}: {found}, {least} to {most} expected")
    memory = find(table, r"memory used", r"memory.*used", r"used.*memory")
    told = recorded.told("memory")[0]["allocated"]
    used = memory and mean(path, memory, spans["compute"])
    return holds("NVML: memory used", used is not None and used >= told, f"{memory}: {used}, at least {told} expected")


def test_metrics():
    """Hardware metrics: each phase keeps the right part busy."""
    recorded = record("metrics", [program("busy"), PHASE], ("--gpu-metrics-devices=all",))
    path, table = recorded.path, metrics(recorded.path, HARDWARE)
    told = cuda_report.diagnostics(path, 1)
    if not table:
        if told:
            raise Skip(f"no hardware metrics here: {told}")
        return report("GPU metrics", "none, and nobody says why")
    spans = phases(path)
    note("metrics: " + ", ".join(f"{m['name']} [{m['unit']}]" for m in table))
    for metric in table:
        note(f"{metric['name']}: " + ", ".join(f"{phase} {mean(path, metric, span) or 0:.4g}" for phase, span in spans.items()))
    active = find(table, r"SMs Active", r"sm__cycles_active")
    busy = {phase: mean(path, active, span) for phase, span in spans.items()} if active else {}
    holds("GPU metrics: multiprocessors are active in the right phases",
          busy and busy["compute"] > 80 and (busy["idle"] or 0) < 10 and (busy["bus"] or 0) < 20, busy)
    check_bandwidth(recorded, find(table, r"DRAM Read", r"dram__read"), "memory", "read", spans)
    check_bandwidth(recorded, find(table, r"PCIe (RX|Read)", r"pcie__(rx|read)"), "bus", "written", spans)
    samples = cuda_report.count(path, "counter", f"where track = {table[0]['track']}")
    seconds = cuda_report.number(path, f"select max(time) - min(time) from sonde_counter where track = {table[0]['track']}") / 1e9
    rate = samples / seconds if seconds else 0
    return holds(f"GPU metrics: {rate:.0f} samples a second", 9000 <= rate <= 11000, f"{samples} in {seconds:.2f} s; {told}")


def test_metrics_training():
    """Everything of a training, with hardware metrics at the usual rate, by a command as people type it: no event and no sample is missing."""
    recorded = record("metrics_training", python_program("torch_train_on.py", "800", need="torch"),
                      ("--cuda-memory-usage=true", "--gpu-metrics-device=all"), trace="cuda,nvtx,osrt,cudnn,cublas", seconds=150, hint=False, quiet=False)
    path, table = recorded.path, metrics(recorded.path, HARDWARE)
    told = cuda_report.diagnostics(path, 1)
    if not table:
        raise Skip(f"no hardware metrics here: {told}")
    gaps = harness.sql(path, "select time, time - before from (select time, lag(time) over (order by time) before from sonde_counter"
                             f" where track = {table[0]['track']}) where time - before > 150000 order by 2 desc limit 20")
    samples = cuda_report.count(path, "counter", f"where track = {table[0]['track']}")
    note(f"{samples} samples, {harness.losses(path)} by reason; longest gaps [time, ns]: {gaps}; {told}")
    holds("GPU metrics of a training: no event is dropped", not harness.events_lost(path), harness.events_lost(path))
    return holds("GPU metrics of a training: no sample is lost", harness.losses(path).get(SAMPLES_LOST, 0) == 0, harness.losses(path))


def check_bandwidth(recorded, metric, phase, field, spans):
    """Against what the program measured itself; shares of a peak only have to be high."""
    truth = recorded.told(phase)[0][field]
    if not metric:
        return report(f"GPU metrics: {phase}", "there is no such metric")
    found = mean(recorded.path, metric, spans[phase])
    if metric["unit"] == "%":
        peak = cuda_report.number(recorded.path, "select bandwidth from sonde_gpu")
        share = 100 * truth / peak if phase == "memory" and peak else 30
        good = found is not None and 0.6 * share <= found <= 101
        return holds(f"GPU metrics: {metric['name']} while {phase} is busy", good,
                     f"{found} %, the program moved {truth:.3g} B/s ({share:.0f} %)")
    good = found is not None and 0.8 * truth <= found <= 1.3 * truth
    return holds(f"GPU metrics: {metric['name']} while {phase} is busy", good, f"{found}, the program moved {truth:.4g} B/s")


def test_metrics_help():
    """The sets that there are."""
    command = [harness.SONDE, "profile", "--gpu-metrics-devices=help"]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    text = run.stdout + run.stderr
    note(text.strip()[:400].replace("\n", " | "))
    holds("GPU metrics: help names the GPU", run.returncode == 0 and "NVIDIA" in text, text[-300:])


def turns(path):
    """Turns on the GPU, [(begin, end, pid, context)], and switches that do not pair."""
    found, odd, begun = [], 0, None
    for row in cuda_report.rows(path, "gpu_switch", ("time", "tag", "context", "pid"), "order by time, sequence"):
        if row["tag"] == 7 and begun and begun["context"] == row["context"]:
            found.append((begun["time"], row["time"], row["pid"], row["context"]))
            begun = None
        elif row["tag"] == 8 and not begun:
            begun = row
        else:
            odd += 1
    return found, odd


def kernel_times(path):
    """[(pid, start)]."""
    pids = {r["uid"]: r["pid"] for r in cuda_report.rows(path, "process", ("uid", "pid"))}
    streams = cuda_report.stream_of_track(path)
    found = cuda_report.rows(path, "gpu_kernel", ("track", "start"))
    return [(pids.get(streams[r["track"]][0]), r["start"]) for r in found if streams.get(r["track"])]


def test_switches():
    """Two programs take turns on the GPU: a kernel begins in a turn of its own process. Where the driver does not tell, a line says why."""
    busy = program("busy")
    recorded = record("gpuctxsw", ["sh", "-c", f"{busy} 0.3 > /dev/null & {busy} 0.3 > /dev/null & wait"], ("--gpuctxsw=true",))
    switches, told = cuda_report.count(recorded.path, "gpu_switch"), cuda_report.diagnostics(recorded.path, 1)
    if not switches:
        return holds("context switches of the GPU: the reason", any("context switches" in line for line in told), told)
    found, odd = turns(recorded.path)
    kernels = kernel_times(recorded.path)
    own = sum(any(begin - SLACK <= start <= end + SLACK for begin, end, pid, _ in found if pid == of) for of, start in kernels)
    other = sum(any(begin + SLACK <= start <= end - SLACK for begin, end, pid, _ in found if pid != of) for of, start in kernels)
    note(f"{switches} context switches, {len(found)} turns, {odd} without another; {len(kernels)} kernels, {own} in turns of their own, "
         f"{other} in others'; {told}")
    holds("context switches: they pair", odd <= 2 and len(found) >= 20, f"{len(found)} turns, {odd} odd")
    holds("context switches: both processes", {pid for pid, _ in kernels} <= {turn[2] for turn in found}, f"{ {turn[2] for turn in found} }")
    holds("context switches: kernels begin in their process's turns", own >= 0.98 * len(kernels) and other <= 0.02 * len(kernels),
          f"{own} of {len(kernels)}, {other} in another's")
    return holds("context switches: none lost", harness.losses(recorded.path).get(SWITCHES_LOST, 0) == 0, harness.losses(recorded.path))


PROGRAMS = ("busy",)
TESTS = {"nvml": test_nvml, "metrics": test_metrics, "metrics_help": test_metrics_help,
         "metrics_training": test_metrics_training, "switches": test_switches}
