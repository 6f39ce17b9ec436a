"""What the tests for GPU machines share: their results, their time, their programs."""
import functools
import glob
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
os.environ.setdefault("BUILD", os.path.join(os.getcwd(), "build"))
os.environ.setdefault("SRC", os.path.join(HERE, "..", ".."))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
import harness  # noqa: E402

PROGRAMS = os.path.join(HERE, "programs")
BUILT = os.path.join(os.environ["BUILD"], "tests", "gpu")
QUIET = ("-s", "none", "--cpuctxsw=none")

counts = {"passed": 0, "failed": 0, "skipped": 0}
deadline = [time.monotonic() + 240]


class Skip(Exception):
    """A test that cannot be done on this machine, and why."""


def report(name, problem):
    counts["failed" if problem else "passed"] += 1
    print(f"{'FAIL' if problem else 'PASS'} {name}" + (f" - {problem}" if problem else ""), flush=True)


def skip(name, why):
    counts["skipped"] += 1
    print(f"SKIP {name} - {why}", flush=True)


def note(text):
    print(f"  {text}", flush=True)


def same(name, got, want, context=""):
    """One test: got must equal want; of large dictionaries only the differences are shown."""
    if got == want:
        return report(name, None)
    if isinstance(got, dict) and isinstance(want, dict):
        keys = [key for key in {**got, **want} if got.get(key) != want.get(key)]
        shown = {key: (got.get(key), want.get(key)) for key in sorted(keys, key=str)[:12]}
        return report(name, f"{len(keys)} differ, (found, wanted): {shown} {context}")
    return report(name, f"found {got!r}, wanted {want!r} {context}")


def holds(name, condition, otherwise):
    report(name, None if condition else str(otherwise))


def time_left():
    return deadline[0] - time.monotonic()


def limit(seconds):
    """Seconds that a command may take, so that the whole ends in time."""
    return max(5.0, min(seconds, time_left()))


def find_files(pattern, roots=("/usr/local/cuda*", "/usr/lib/x86_64-linux-gnu", "/opt", "/usr/local/lib", sys.prefix)):
    found = []
    for root in roots:
        found += glob.glob(os.path.join(root, "**", pattern), recursive=True)
    return sorted(set(found))


def nvcc():
    places = [shutil.which("nvcc"), *glob.glob("/usr/local/cuda*/bin/nvcc"),
              *glob.glob(os.path.join(sys.prefix, "lib/python3*/site-packages/nvidia/cu*/bin/nvcc"))]
    return next((place for place in places if place and os.access(place, os.X_OK)), None)


def architectures(compiler):
    """That of the GPU here, or several to be carried to one."""
    try:
        query = ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"]
        found = subprocess.run(query, capture_output=True, text=True, check=True, timeout=60).stdout.split()
        numbers = sorted({cap.replace(".", "") for cap in found})
    except (OSError, subprocess.SubprocessError):
        numbers = []
    known = subprocess.run([compiler, "--list-gpu-arch"], capture_output=True, text=True, check=True).stdout.split()
    numbers = [n for n in numbers or ("80", "90", "100") if f"compute_{n}" in known] or [known[-1].split("_")[1]]
    return [f"-gencode=arch=compute_{n},code=[sm_{n},compute_{n}]" for n in numbers]


def digest(name):
    text = b""
    for source in (f"{name}.cu", "tell.h", "work.h"):
        with open(os.path.join(PROGRAMS, source), "rb") as f:
            text += f.read()
    return hashlib.sha256(text).hexdigest()


def start_build(name, compiler, flags):
    return subprocess.Popen([compiler, "-O2", "-std=c++17", "-lineinfo", *flags, "-o", os.path.join(BUILT, name),
                             os.path.join(PROGRAMS, name + ".cu"), "-lcuda", "-lpthread", "-ldl"],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def build_programs(names):
    """Builds those that are not there; a program and the digest of what it was made from lie side by side."""
    os.makedirs(BUILT, exist_ok=True)
    stale = [name for name in names if not built(name)]
    compiler = nvcc()
    if not stale or not compiler:
        return
    began, flags = time.monotonic(), architectures(compiler)
    under_way = {name: start_build(name, compiler, flags) for name in stale}
    for name, process in under_way.items():
        text = process.communicate()[0]
        if process.returncode == 0:
            with open(os.path.join(BUILT, name + ".digest"), "w", encoding="ascii") as f:
                f.write(digest(name))
        else:
            note(f"{name} was not built: {text.strip()[-300:]}")
    note(f"{len(stale)} programs built in {time.monotonic() - began:.1f} s")


def built(name):
    try:
        with open(os.path.join(BUILT, name + ".digest"), encoding="ascii") as f:
            return f.read() == digest(name) and os.access(os.path.join(BUILT, name), os.X_OK)
    except OSError:
        return False


def program(name):
    if not built(name):
        raise Skip(f"{name} is not built" + ("" if nvcc() else " (no nvcc here)"))
    return os.path.join(BUILT, name)


PYTHONS = {}  # {module: the Python that has it, or None}


def python_with(module):
    """This Python, or one of those that people put beside it; the first that has the module."""
    if module not in PYTHONS:
        candidates = [os.environ.get("SONDE_TEST_PYTHON"), sys.executable]
        for pattern in ("/opt/*/.venv/bin/python3", "/opt/.venv/bin/python3", "/opt/*/bin/python3", "/opt/*/*/bin/python3"):
            candidates += sorted(glob.glob(pattern))
        ask = f"import importlib.util, sys; sys.exit(importlib.util.find_spec('{module}') is None)"
        PYTHONS[module] = next((python for python in candidates if python and subprocess.run(
            [python, "-c", ask], capture_output=True, check=False).returncode == 0), None)
    return PYTHONS[module]


def python_has(module):
    return python_with(module) is not None


def python_program(name, *arguments, need="sys"):
    """The command that runs a Python program of ours, by a Python that has what it needs."""
    python = python_with(need)
    if not python:
        raise Skip(f"no Python with {need} here")
    return [python, os.path.join(PROGRAMS, name), *arguments]


@functools.lru_cache(maxsize=None)
def cupti_hint():
    """Programs without a toolkit beside them find CUPTI only when told: {variable: path}, empty where no hint is needed."""
    if os.environ.get("SONDE_CUPTI") or glob.glob("/usr/local/cuda*/**/libcupti.so.1[1-9]", recursive=True):
        return {}
    folder = os.path.dirname(os.path.dirname(python_with("torch") or sys.executable))
    found = glob.glob(os.path.join(folder, "lib/python3*/site-packages/nvidia/**/libcupti.so.1[1-9]"), recursive=True)
    return {"SONDE_CUPTI": sorted(found)[-1]} if found else {}


class Recorded:
    """A program that ran under Sonde: its output, how long it took, the report."""

    def __init__(self, run, path, took):
        self.run, self.path, self.took = run, path, took
        self.truth = []
        for line in run.stdout.splitlines():
            if line.startswith("{"):
                self.truth.append(json.loads(line))

    def told(self, kind):
        return [line for line in self.truth if line["kind"] == kind]


def record(name, command, options=(), trace="cuda,nvtx", env=None, seconds=60, status=0, hint=True, quiet=True):
    """Runs it, raises where it does not end as it would alone."""
    path = harness.report_path(name)
    environment = {**os.environ, **(cupti_hint() if hint else {}), **(env or {})}
    began = time.monotonic()
    run = subprocess.run([harness.SONDE, "profile", "-t", trace, *(QUIET if quiet else ()), "-f", "true", "-o", path, *options, *command],
                         capture_output=True, text=True, env=environment, timeout=limit(seconds), check=False)
    took = time.monotonic() - began
    if run.returncode != status:
        raise RuntimeError(f"{os.path.basename(command[0])}: exit status {run.returncode}, not {status}: {run.stderr[-500:]}")
    return Recorded(run, path, took)


def plain(command, env=None, seconds=60):
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **(env or {})}, timeout=limit(seconds), check=True)
