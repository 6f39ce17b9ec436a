"""What the benchmarks share: interleaved runs, an A/A control beside every comparison, and a verdict
that says 'cannot tell' when the noise is larger than the limit's margin."""
import datetime
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import threading
import time

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
    run = subprocess.run([SONDE, "profile", "-t", "nvtx", "-s", "none", "--cpuctxsw", "none", "-f", "true", "-o", path, *options, *command],
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


missed = []


def row(what, value, limit, unit, control, result):
    if result == "MISSED":
        missed.append(what)
    print(f"{what:58} {value:>10} {limit:>14} {unit:8} {control:>12}  {result}", flush=True)


def limit_row(what, value, limit, unit, form="{:.2f}"):
    """A row whose limit is an upper one, with no control beside it (counts, bytes, memory)."""
    row(what, form.format(value), form.format(limit), unit, "-", "holds" if value <= limit else "MISSED")


def header():
    print(machine())
    row("what", "measured", "limit", "unit", "A/A spread", "verdict")


def finish():
    sys.exit(1 if missed else 0)


def recorder_of(cli):
    """The recorder is a child of the command line that leads a session of its own."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
                fields = f.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == cli and int(fields[3]) == int(pid):
            return int(pid)
    return None


def cpu_seconds(pid):
    """Of all its threads, those that have ended, too."""
    return time.clock_gettime(~pid << 3 | 2)


def watch(cli, result):
    """Highest memory (kB) and CPU seconds of the recorder, until result['over'], and until the program's end."""
    pid = None
    while pid is None and not result.get("over"):
        time.sleep(0.02)
        pid = recorder_of(cli)
    while not result.get("over"):
        try:
            with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as f:
                status = dict(line.split(":", 1) for line in f if ":" in line)
            result["cpu"] = cpu_seconds(pid)
            # Naming and closing the report belongs to `ready`.
            if not result.get("ended"):
                result["cpu_recording"] = result["cpu"]
        except (OSError, ValueError):
            return
        memory = sum(int(status[key].split()[0]) for key in ("RssAnon", "RssShmem") if key in status)
        result["memory"] = max(result.get("memory", 0), memory)
        time.sleep(0.05)


def watched(command, report="watched"):
    """Records a program and watches the recorder; `ready` counts from the program's last output line,
    which must be the only one."""
    path = os.path.join(WORK, report + ".sonde")
    result = {"path": path}
    with subprocess.Popen([SONDE, "profile", "-t", "nvtx", "-f", "true", "-o", path, *command],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as cli:
        watcher = threading.Thread(target=watch, args=(cli.pid, result))
        watcher.start()
        result["text"] = cli.stdout.readline()
        ended = time.monotonic()
        result["ended"] = True
        cli.wait()
        result["ready"] = time.monotonic() - ended
        result["over"] = True
        watcher.join()
        result["status"] = cli.returncode
    return result


def ask(path, statement):
    return plain([SONDE, "sql", path, statement, "-f", "csv:nohdr"]).split()


def losses(path):
    """{reason: count}. Sonde's own tables are not listed in sqlite_master, and always there."""
    pairs = (line.split(",") for line in ask(path, "select reason, sum(count) from sonde_loss group by 1"))
    return {int(reason): int(count) for reason, count in pairs}
