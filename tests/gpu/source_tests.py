"""What single instructions did, beside ncu's source page, and values over time."""
import csv
import json
import os
import re
import shutil
import statistics
import subprocess
import time

import harness
from suite import PROGRAMS as FOLDER, Skip, holds, limit, note, program, same

SONDE = os.path.join(os.environ["BUILD"], "sonde")
SOURCE = os.path.join(FOLDER, "source.cu")
# Counted, so that they must be equal.
COLUMNS = ["Instructions Executed", "Thread Instructions Executed", "Predicated-On Thread Instructions Executed", "Divergent Branches",
           "L1 Tag Requests Global", "L1 Wavefronts Shared", "L1 Wavefronts Shared Ideal", "L2 Theoretical Sectors Global",
           "L2 Theoretical Sectors Global Ideal"]


def output(command):
    return subprocess.run(command, capture_output=True, text=True, timeout=limit(90))


def line_with(word):
    with open(SOURCE, encoding="ascii") as f:
        return next(i + 1 for i, line in enumerate(f) if "// " + word in line)


def kernels(text):
    """[(name, [{column: cell}])]: ncu writes each kernel twice."""
    found, heading = [], None
    for row in csv.reader(text.splitlines()):
        if row[:1] == ["Kernel Name"]:
            found.append((row[1].split("(")[0], []))
        elif row[:1] == ["Address"]:
            heading = row
        elif heading and row and row[0].startswith("0x"):
            found[-1][1].append(dict(zip(heading, row)))
    return found


def recorded(name, *options):
    path = harness.report_path(name)
    began = time.monotonic()
    run = output([SONDE, "kernel", "-f", "-o", path, *options, program("source")])
    return run, path, time.monotonic() - began


def compare(ours, theirs):
    different, far = [], 0.0
    for (name, mine), (_, other) in zip(ours, theirs):
        same(f"source: {name}: as many instructions as ncu", len(mine), len(other))
        samples = [sum(int(row["# Samples"]) for row in rows) or 1 for rows in (mine, other)]
        for a, b in zip(mine, other):
            different += [(name, a["Address"], c, a[c], b[c]) for c in COLUMNS if c in a and c in b and a[c] != b[c]]
            far = max(far, abs(int(a["# Samples"]) / samples[0] - int(b["# Samples"]) / samples[1]))
    return different, far


def test_source():
    alone = output([program("source")]).stdout
    run, path, ours = recorded("source", "--set", "source", "--import-source", "yes", "--source-folders", FOLDER)
    same("source: the program's result", (run.stdout.strip(), run.returncode), (alone.strip(), 0), run.stderr[-400:])
    page = json.loads(output([SONDE, "kernel", "-i", path, "--page", "source", "--json"]).stdout)["kernels"]
    lines = [{line["line"]: line["values"] for line in kernel["lines"]} for kernel in page]
    strided, conflict = lines[0][line_with("strided!")], lines[1][line_with("conflict!")]
    same("source: eight times the sectors at the line that strides",
         strided["memory_l2_theoretical_sectors_global"] / strided["memory_l2_theoretical_sectors_global_ideal"], 8)
    same("source: 32 rounds at the line with the conflict", conflict["memory_l1_wavefronts_shared"] / conflict["memory_l1_wavefronts_shared_ideal"], 32)
    holds("source: each kernel was sampled", all(any("smsp__pcsamp_sample_count" in v for v in kernel.values()) for kernel in lines), lines)
    details = output([SONDE, "kernel", "-i", path]).stdout
    holds("source: rules name the lines", f"source.cu:{line_with('strided!')}" in details and f"source.cu:{line_with('conflict!')}" in details, details[-2000:])
    if not shutil.which("ncu"):
        raise Skip("no ncu here")
    theirs_path = harness.report_path("source-ncu") + ".ncu-rep"
    began = time.monotonic()
    output(["ncu", "--clock-control", "none", "--section", "SourceCounters", "--section", "LaunchStats", "-f", "-o", theirs_path, program("source")])
    note(f"wall time {ours:.2f} s, ncu {time.monotonic() - began:.2f} s")
    theirs = kernels(output(["ncu", "-i", theirs_path, "--page", "source", "--csv", "--print-source", "sass"]).stdout)[::2]
    different, far = compare(kernels(output([SONDE, "kernel", "-i", path, "--page", "source", "--csv"]).stdout), theirs)
    same("source: counts of each instruction are ncu's", different[:6], [])
    note(f"shares of samples differ by {100 * far:.1f} points at most")
    holds("source: samples are where ncu's are", far < 0.06, far)


def test_series():
    run, path, _ = recorded("series", "--section", "PmSampling", "--metrics", "gpu__time_duration.sum")
    same("series: status", run.returncode, 0, run.stderr[-400:])
    rows = harness.sql(path, "select m.result, max(m.offset), count(*) from sonde_kernel_metric m where m.name like 'pmsampling:%sm__cycles_active.avg' "
                             "and m.instance is not null group by 1 order by 1")
    spans = [float(row[1]) for row in rows]
    durations = [float(row[0]) for row in harness.sql(path, "select coalesce(integer, real) from sonde_kernel_metric where name = 'gpu__time_duration.sum' order by result")]
    same("series: each kernel", len(spans), 3)
    holds("series: as long as the kernel", all(abs(s - d) < 0.2 * d + 3000 for s, d in zip(spans, durations)), list(zip(spans, durations)))


def middles(text):
    """Of a table of raw values with their instances, the median of each metric's samples that are not 0."""
    rows = list(csv.reader(line for line in text.splitlines() if line.startswith('"')))
    found = {}
    for name, cell in zip(rows[0], rows[2]):
        samples = [float(value.replace(",", "")) for value in re.findall(r"\d[\d,]*(?:\.\d+)?", cell[cell.find("(") + 1:])] if "(" in cell and "__" in name else []
        if any(samples):
            found[name.removeprefix("pmsampling:")] = statistics.median(value for value in samples if value)
    return found


def test_series_ncu():
    """In the middle of a kernel of 0.3 ms that does the same all the time, samples are those of ncu."""
    if not shutil.which("ncu"):
        raise Skip("no ncu here")
    choice = ["-k", "multiply", "-c", "1", "--section", "PmSampling"]
    printed = ["--page", "raw", "--csv", "--print-units", "base", "--print-metric-instances", "values"]
    ours = middles(output([SONDE, "kernel", *choice, *printed, program("counted")]).stdout)
    theirs = middles(output(["ncu", "--clock-control", "none", *choice, *printed, program("counted")]).stdout)
    shares = sorted(name for name in ours if ".pct" in name and name in theirs)
    far = {name: (ours[name], theirs[name]) for name in shares if abs(ours[name] - theirs[name]) > 2 + 0.1 * theirs[name]}
    holds("series_ncu: both have shares over time", len(shares) >= 10, (sorted(ours), sorted(theirs)))
    note(f"{len(shares)} shares over time; hit rate of L2: {[m.get('LTS.TriageCompute.lts__average_t_sector_hit_rate_realtime.pct') for m in (ours, theirs)]}")
    same("series_ncu: samples are ncu's", far, {})


PROGRAMS = ("source",)
TESTS = {"source": test_source, "series": test_series, "series_ncu": test_series_ncu}
