"""What the tests of `sonde attach` share: a program that was there before, and the command."""
from harness import *

RUNNING = program("running")
os.environ["XDG_RUNTIME_DIR"] = os.path.join(WORK, "runtime")
os.mkdir(os.environ["XDG_RUNTIME_DIR"])


class Running:
    """The program `running`, from before anybody attaches to it."""

    def __init__(self, *arguments, command=None):
        self.process = subprocess.Popen(command or [RUNNING, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid
        self.said = {}
        line, ready = "x", False
        while line and not (ready and (not self.said or {"running", "below", "worker-0", "worker-1"} <= self.said.keys())):
            line = self.process.stdout.readline()
            ready |= line == "ready\n"
            self.note(line)

    def note(self, line):
        words = line.split()
        if len(words) == 3:
            self.said[words[0]] = (int(words[1]), int(words[2]))

    def tell(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()

    def end(self):
        """(status, last line)"""
        self.tell("end")
        lines = [line.strip() for line in self.process.stdout]
        for line in lines:
            self.note(line)
        return self.process.wait(30), lines[-1] if lines else ""


def attach(name, pid, *options, before=(), timeout=60, **kwargs):
    path = report_path(name)
    run = subprocess.run([*before, SONDE, "attach", str(pid), "-o", path, *options], capture_output=True, text=True, timeout=timeout, **kwargs)
    return run, path


def begin(name, pid, *options, before=(), **kwargs):
    """A recording under way."""
    path, mark = report_path(name), os.path.join(WORK, name + ".mark")
    cli = subprocess.Popen([*before, SONDE, "attach", str(pid), "-o", path, f"--after-collection-start=touch '{mark}'", *options],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **kwargs)
    wait_until(lambda: os.path.exists(mark) or cli.poll() is not None, 20)
    return cli, path


def processor_time(pid):
    """Seconds that all threads of a process ran."""
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
        words = f.read().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def wait_for_work(pid, seconds):
    """Until the process ran so long, whoever else wants the processors: then it was sampled."""
    end = processor_time(pid) + seconds
    return wait_until(lambda: processor_time(pid) >= end, 60)


def number(path, statement):
    return int(sql(path, statement)[0][0] or 0)
