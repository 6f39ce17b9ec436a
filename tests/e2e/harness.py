"""What the end-to-end tests share: run a program under Sonde, ask the report, say ok or not ok."""
import csv
import io
import os
import subprocess
import sys
import tempfile

BUILD = os.environ.get("BUILD", os.path.abspath("build"))
SRC = os.environ.get("SRC", os.getcwd())
SONDE = os.path.join(BUILD, "sonde")
SOAK = os.environ.get("SOAK") == "1"
WORK = tempfile.mkdtemp(prefix="sonde-test-", dir=os.environ.get("TMPDIR"))

failures = 0


def program(name):
    """A test program, built by Meson beside the binary."""
    return os.path.join(BUILD, "tests", "e2e", name)


def ok(name):
    print(f"ok {name}", flush=True)


def not_ok(name, why):
    global failures
    failures += 1
    print(f"not ok {name} - {why}", flush=True)


def skip(name, why):
    print(f"skip {name} - {why}", flush=True)


def check(name, got, want):
    """One test: got must equal want."""
    if got == want:
        ok(name)
    else:
        not_ok(name, f"got {got!r}, want {want!r}")
    return got == want


def report_path(name):
    return os.path.join(WORK, name + ".sonde")


def profile(name, command, options=(), env=None, timeout=60, **kwargs):
    """Runs `command` under sonde profile; returns (process, path of the report)."""
    path = report_path(name)
    environment = dict(os.environ)
    environment.update(env or {})
    run = subprocess.run(
        [SONDE, "profile", "-t", "nvtx", "-o", path, *options, *command],
        capture_output=True, text=True, env=environment, timeout=timeout, **kwargs)
    return run, path


def sql(path, statement):
    """Rows of a query, as lists of strings."""
    run = subprocess.run([SONDE, "sql", path, statement, "-f", "csv:nohdr"],
                         capture_output=True, text=True, timeout=60)
    if run.returncode != 0:
        raise RuntimeError(f"sonde sql failed: {run.stderr.strip()}")
    return [row for row in csv.reader(io.StringIO(run.stdout)) if row]


def range_counts(path):
    """{name: how many closed push/pop ranges}."""
    tables = {row[0] for row in sql(path, "select name from sqlite_master")}
    if "NVTX_EVENTS" not in tables:
        return {}
    return {name: int(count) for name, count in sql(
        path, "select coalesce(text, s.value), count(*) from NVTX_EVENTS"
              " left join StringIds s on s.id = textId"
              " where eventType = 59 and \"end\" is not null group by 1")}


def open_ranges(path):
    tables = {row[0] for row in sql(path, "select name from sqlite_master")}
    if "NVTX_EVENTS" not in tables:
        return {}
    return {name: int(count) for name, count in sql(
        path, "select text, count(*) from NVTX_EVENTS where eventType = 59 and \"end\" is null group by 1")}


def diagnostics(path):
    tables = {row[0] for row in sql(path, "select name from sqlite_master")}
    if "DIAGNOSTIC_EVENT" not in tables:
        return ""
    return "\n".join(row[0] for row in sql(path, "select text from DIAGNOSTIC_EVENT"))


def losses(path):
    """{reason: count}; reasons as in enum loss_reason."""
    tables = {row[0] for row in sql(path, "select name from sqlite_master")}
    if "sonde_loss" not in tables:
        return {}
    return {int(reason): int(count) for reason, count in sql(
        path, "select reason, sum(count) from sonde_loss group by 1")}


def done():
    sys.exit(1 if failures else 0)
