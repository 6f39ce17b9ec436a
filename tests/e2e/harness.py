"""What the end-to-end tests share: run a program under Sonde, ask the report, say ok or not ok."""
import csv
import fcntl
import io
import os
import re
import select
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import termios
import time

BUILD = os.environ.get("BUILD", os.path.abspath("build"))
SRC = os.environ.get("SRC", os.getcwd())
SONDE = os.path.join(BUILD, "sonde")
FIXTURES = os.path.join(SRC, "tests", "fixtures")
SOAK = os.environ.get("SOAK") == "1"
WORK = tempfile.mkdtemp(prefix="sonde-test-", dir=os.environ.get("TMPDIR"))

failures = 0


def program(name):
    """A test program, built by Meson beside the binary."""
    return os.path.join(BUILD, "tests", "e2e", name)


def say(line):
    # In one piece: tests have threads, and a line behind another's would not be seen.
    print(f"{line}\n", end="", flush=True)


def ok(name):
    say(f"ok {name}")


def not_ok(name, why):
    global failures
    failures += 1
    say(f"not ok {name} - {why}")


def skip(name, why):
    say(f"skip {name} - {why}")


def check(name, got, want):
    """One test: got must equal want."""
    if got == want:
        ok(name)
    else:
        not_ok(name, f"got {got!r}, want {want!r}")
    return got == want


NOBODY = 65534


def nobody_can_run():
    """Whether another user reaches the build folder: one below a private home is closed to others."""
    try:
        return subprocess.run([SONDE, "--version"], user=NOBODY, group=NOBODY, extra_groups=[], capture_output=True).returncode == 0
    except PermissionError:
        return False


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


def as_meant(cell):
    """A cell of our CSV without the apostrophe that keeps spreadsheets from computing it."""
    return re.sub(r"^'(?='*[\t\r\n]*[=+@-].)", "", cell)


def sql(path, statement, timeout=60):
    """Rows of a query, as lists of strings."""
    run = subprocess.run([SONDE, "sql", path, statement, "-f", "csv:nohdr"],
                         capture_output=True, text=True, timeout=timeout)
    if run.returncode != 0:
        raise RuntimeError(f"sonde sql failed: {run.stderr.strip()}")
    return [[as_meant(cell) for cell in row] for row in csv.reader(io.StringIO(run.stdout)) if row]


def stats(path, report, *options):
    """Rows of a named report, as dictionaries."""
    run = subprocess.run([SONDE, "stats", "-r", report, "-f", "csv", *options, path],
                         capture_output=True, text=True, timeout=60)
    if run.returncode != 0:
        raise RuntimeError(f"sonde stats failed: {run.stderr.strip()}")
    lines = run.stdout.splitlines()
    first = next((i for i, line in enumerate(lines) if line.count(",") > 4), len(lines))
    return [row for row in csv.DictReader(lines[first:]) if any(row.values())]


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
    return {int(reason): int(count) for reason, count in sql(
        path, "select reason, sum(count) from sonde_loss group by 1")}


PERF_RING_FULL = 9
# Reasons of rows of sonde_loss that are no lost events: ends without a beginning, GPUs' samples, shortened stacks, missing details.
NO_LOST_EVENTS = (4, 5, 11, 12, 13, 14)


def events_lost(path):
    """As losses(), but events alone."""
    return {reason: count for reason, count in losses(path).items() if reason not in NO_LOST_EVENTS}


def printed_sum(text):
    """(events, dropped) as `sonde profile` prints them when it is over."""
    match = re.search(r"(\d+) events, (\d+) dropped", text)
    return (int(match[1]), int(match[2])) if match else None


def told_as_lost(path):
    """Events that the report's diagnostics tell of as lost."""
    run = subprocess.run([SONDE, "stats", "-q", "-r", "diagnostics", "-f", "csv", path], capture_output=True, text=True, timeout=60)
    return sum(int(n) for n in re.findall(r",\"?(\d+) events?(?: \(samples or switches\))? lost", run.stdout))


def complete(path):
    """The report is there, and nothing of its making is left beside it."""
    return os.path.exists(path) and not os.path.exists(path + ".part") and \
        not os.path.exists(path[:-len(".sonde")] + ".sonde.journal")


def nothing_of_ours(text):
    """No line of the dynamic linker, of a sanitizer or about our library."""
    return not any(word in text for word in ("ld.so", "preload", "libsonde", "Sanitizer"))


def refused(name, command, *words, env=None, stdout="", status=1, **kwargs):
    """One test: the command ends with status 1 and one line on stderr that holds all the words."""
    environment = dict(os.environ)
    environment.update(env or {})
    try:
        run = subprocess.run(command, capture_output=True, text=True, errors="replace", env=environment,
                             timeout=60, **kwargs)
    except subprocess.TimeoutExpired:
        return not_ok(name, "no answer within 60 s")
    lines = run.stderr.splitlines()
    if run.returncode != status:
        return not_ok(name, f"exit status {run.returncode}, want {status}: {run.stderr[-300:]!r}")
    if len(lines) != 1 or not lines[0].startswith("sonde"):
        return not_ok(name, f"want one line of sonde's on stderr, got {run.stderr[-500:]!r}")
    if stdout is not None and run.stdout != stdout:
        return not_ok(name, f"stdout {run.stdout[-300:]!r}")
    missing = [word for word in words if word.lower() not in lines[0].lower()]
    if missing:
        return not_ok(name, f"nothing about {missing} in {lines[0]!r}")
    return ok(name)


def compiler_works(command):
    """Whether a compiler with these flags makes programs."""
    source = os.path.join(WORK, "works.c")
    with open(source, "w", encoding="ascii") as f:
        f.write("#include <stdio.h>\nint main(void) { return puts(\"x\") < 0; }\n")
    try:
        return subprocess.run([*command, source, "-o", source[:-2]], capture_output=True).returncode == 0
    except OSError:
        return False


def compile_program(name, source, command, flags=()):
    """Compiles tests/e2e/programs/SOURCE into WORK/NAME."""
    path = os.path.join(WORK, name)
    subprocess.run([*command, "-D_GNU_SOURCE", "-I" + os.path.join(SRC, "include"),
                    os.path.join(SRC, "tests", "e2e", "programs", source), "-o", path, *flags],
                   check=True, stderr=subprocess.DEVNULL)
    return path


def processes_below(pid):
    """(pid, name, session) of the children of a process."""
    result = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as f:
                text = f.read()
        except OSError:
            continue
        fields = text.rsplit(")", 1)[1].split()
        if int(fields[1]) == pid:
            result.append((int(name), text[text.index("(") + 1:text.rindex(")")], int(fields[3])))
    return result


def memory_of_children(pid):
    """Memory of its own that the largest process below one has, in kB; 0 while there is none."""
    most = 0
    for child, _, _ in processes_below(pid):
        try:
            with open(f"/proc/{child}/status", encoding="ascii", errors="replace") as status:
                most = max([most] + [int(line.split()[1]) for line in status if line.startswith("RssAnon")])
        except (OSError, IndexError):
            pass
    return most


def recorder_of(cli):
    """The recorder is the child of the command line that leads a session."""
    return next((pid for pid, _, session in processes_below(cli.pid) if session == pid), None)


def waited_ms(pid):
    """For how long the thread that writes the report could have run and did not."""
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/comm", encoding="ascii") as comm:
            if comm.read() != "sonde-drain\n":
                continue
        try:
            with open(f"/proc/{pid}/task/{tid}/schedstat", encoding="ascii") as stat:
                return int(stat.read().split()[1]) // 1000000
        except OSError:
            break
    return 0


def let_pass(seconds, recorder):
    """As much time as the recorder can make use of."""
    end, waited = time.monotonic() + seconds, waited_ms(recorder)
    while time.monotonic() < end + (waited_ms(recorder) - waited) / 1000:
        time.sleep(0.02)


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def wait_until(condition, seconds):
    """The first true value of condition(), or the last one after so many seconds."""
    end = time.monotonic() + seconds
    value = condition()
    while not value and time.monotonic() < end:
        time.sleep(0.02)
        value = condition()
    return value


class Terminal:
    """A command on a terminal of its own, in the foreground: Ctrl-C reaches it as it would a person's."""

    def __init__(self, command, env=None):
        self.master, slave = os.openpty()
        self.settings = termios.tcgetattr(slave)
        self.slave = slave
        self.output = b""

        def own_the_terminal():
            # Whoever runs the tests in the background has these ignored, and so would we.
            for number in (signal.SIGINT, signal.SIGQUIT):
                signal.signal(number, signal.SIG_DFL)
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, close_fds=True,
                                        preexec_fn=own_the_terminal, env=env)

    def read(self, seconds):
        if select.select([self.master], [], [], seconds)[0]:
            try:
                self.output += os.read(self.master, 65536)
            except OSError:
                return False
        return True

    def wait_for(self, text, seconds=60):
        end = time.monotonic() + seconds
        while text not in self.output and time.monotonic() < end:
            self.read(0.05)
        return text in self.output

    def press(self, keys):
        os.write(self.master, keys)

    def finish(self, seconds=60):
        """The exit status, or None after so many seconds."""
        end = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < end:
            self.read(0.05)
        status = self.process.poll()
        while select.select([self.master], [], [], 0.1)[0] and self.read(0):
            pass
        return status

    def text(self):
        return self.output.decode(errors="replace").replace("\r\n", "\n")


def done():
    sys.exit(1 if failures else 0)
