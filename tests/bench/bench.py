"""What the benchmarks share: interleaved runs, an A/A control beside every comparison, and a verdict
that says 'cannot tell' when the noise is larger than the limit's margin."""
import datetime
import os
import platform
import statistics
import subprocess
import tempfile

BUILD = os.environ.get("BUILD", os.path.abspath("build"))
SONDE = os.path.join(BUILD, "sonde")
PROGRAMS = os.path.join(BUILD, "tests", "bench")
WORK = tempfile.mkdtemp(prefix="sonde-bench-", dir=os.environ.get("TMPDIR"))
LONG = os.environ.get("SOAK") == "1"


def program(name):
    return os.path.join(PROGRAMS, name)


def machine():
    model = "unknown CPU"
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as info:
        for line in info:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True,
                            cwd=os.environ.get("SRC", "."), check=False).stdout.strip()
    return (f"{datetime.date.today()}  {model}, {os.cpu_count()} cores, Linux {platform.release()},"
            f" commit {commit or 'unknown'}")


def plain(command, env=None):
    environment = dict(os.environ, **(env or {}))
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout


def traced(command, report="bench", options=()):
    path = os.path.join(WORK, report + ".sonde")
    run = subprocess.run([SONDE, "profile", "-t", "nvtx", "-f", "true", "-o", path, *options, *command],
                         capture_output=True, text=True, check=True)
    return run.stdout, path


def verdict(value, limit, spread):
    """The limit holds when the value meets it and the A/A spread is tighter than the limit."""
    if spread >= limit:
        return "cannot tell"
    return "holds" if value <= limit else "MISSED"


def spread_of(values):
    """A/A: how far the halves of one interleaved series lie apart."""
    a, b = values[0::2], values[1::2]
    return abs(statistics.median(a) - statistics.median(b))


def row(what, value, limit, unit, control, result):
    print(f"{what:58} {value:>10} {limit:>14} {unit:8} {control:>12}  {result}", flush=True)


def header():
    print(machine())
    row("what", "measured", "limit", "unit", "A/A spread", "verdict")
