"""Sessions of Sonde in a runtime folder of their own."""
import json
import socket
import struct

from cuda_double import *

WINDOW = program("window")
POP_WITHOUT_PUSH = 4 # of a range that was open when the recording began
RUN = os.path.join(WORK, "run")
FOLDER = os.path.join(RUN, "sonde")
os.mkdir(RUN)
os.environ["XDG_RUNTIME_DIR"] = RUN


def sonde(*words, **kwargs):
    return subprocess.run([SONDE, *words], capture_output=True, text=True, timeout=60, cwd=WORK, **kwargs)


def sessions():
    return json.loads(sonde("sessions", "list", "-f", "json").stdout)


def until(what, seconds=60):
    end = time.monotonic() + seconds
    while not what() and time.monotonic() < end:
        time.sleep(0.01)
    return bool(what())


def ticks_file(name):
    return os.path.join(WORK, f"{name}.ticks")


def made(name):
    """(payload, ms before, ms after) of each range that the program of a session has begun, as its own clock (time.monotonic()) has it."""
    try:
        with open(ticks_file(name), encoding="ascii") as f:
            return [tuple(map(int, line.split())) for line in f if line.endswith("\n")]
    except FileNotFoundError:
        return []


def until_further(name, count):
    """Until the program has begun so many more ranges: a busy machine takes its time."""
    before = len(made(name))
    return until(lambda: len(made(name)) > before + count, 60)


def now_ms():
    return time.monotonic() * 1000


def check_recorded(tag, name, path, asked, begun, ending, ended, least=1):
    """Of the program's ranges the report has all from when recording had begun to when it was to end, without gaps, and none from
    before it was asked for or after it was over; times as now_ms()."""
    all_of_them, got = made(name), ticks(path)
    # A range has ended when the next one begins.
    inside = [one[0] for one, following in zip(all_of_them, all_of_them[1:]) if one[1] > begun and following[1] + 1 < ending]
    around = [payload for payload, before, after in all_of_them if after >= asked and before <= ended + 1]
    first = around.index(got[0]) if got and got[0] in around else 0
    check(tag, (len(inside) >= least, [p for p in inside if p not in got], got), (True, [], around[first:first + len(got)]))


def launch(name, milliseconds, *options, status=6):
    """A running session, and when its program began (roughly)."""
    words = [SONDE, "launch", "-t", "nvtx", *(["--session-new=" + name] if name else []), *options, WINDOW, str(milliseconds), str(status)]
    before = len(sessions())
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=WORK,
                               env={**os.environ, "WINDOW_TICKS": ticks_file(name)})
    until(lambda: len(sessions()) > before)
    return process


def ticks(path):
    """Milliseconds since the program's start, of each range it made."""
    return [int(r[0]) for r in sql(path, "select int64Value from NVTX_EVENTS where eventType = 59 and int64Value is not null order by start")]


def first_event(path):
    """When the first recorded range began, as time.time_ns() has it."""
    begin = sql(path, "select value from sonde_meta where key = 'start_utc_ns'")[0][0]
    return int(begin) + int(sql(path, "select min(start) from NVTX_EVENTS where eventType = 59")[0][0])


def recorder_of(process):
    children = subprocess.run(["ps", "-o", "pid=,comm=", "--ppid", str(process.pid)], capture_output=True, text=True).stdout
    return next(int(line.split()[0]) for line in children.splitlines() if "sonde-recorder" in line)


def connect(number):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(os.path.join(FOLDER, f"{number}.socket"))
    s.settimeout(10)
    return s


def request_size():
    """As the commands themselves send it, to somebody who only listens."""
    path = os.path.join(FOLDER, "999.socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(path)
        listener.listen()
        asking = subprocess.Popen([SONDE, "sessions", "list"], stdout=subprocess.DEVNULL)
        client, _ = listener.accept()
        size = len(client.recv(1 << 20))
        client.close()
        asking.wait()
    os.unlink(path)
    return size


def closed_without_answer(s):
    try:
        return s.recv(1 << 20) == b""
    except ConnectionResetError:
        return True


def shut_down(process, *options):
    run = sonde("shutdown", *options)
    process.communicate(timeout=30)
    return run.returncode


def words_of(text):
    """Lines of a command without those about the report's size."""
    return [line for line in text.splitlines() if "events," not in line]


NUMBERED = program("numbered")
# Without stacks of each sleep: those fill the rings where the recorder does not get its turn.
NVTX_AND_OSRT = ("-t", "nvtx,osrt", "--osrt-backtrace-threshold=1000000000")


class Numbered:
    """A session around the program that numbers its ranges."""

    def __init__(self, name, threads=4, pause_us=500, options=("-t", "nvtx")):
        self.file = os.path.join(WORK, name + ".progress")
        if os.path.exists(self.file):
            os.unlink(self.file)
        self.threads = threads
        self.process = subprocess.Popen([SONDE, "launch", *options, "--session-new=" + name, NUMBERED, self.file, str(threads), str(pause_us)],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=WORK)
        until(lambda: min(self.progress()) > 0 and sessions())
        self.target = next((s["pid"] for s in sessions() if s["name"] == name), 0)
        self.recorder = recorder_of(self.process)

    def progress(self):
        """Ranges each thread has ended."""
        try:
            with open(self.file, "rb") as f:
                return struct.unpack_from(f"{self.threads}Q", f.read(), 8)
        except (OSError, struct.error):
            return (0,) * self.threads

    def until_further(self, by=1):
        """Until each thread has got so much further; whether it has."""
        before = self.progress()
        return until(lambda: all(n >= b + by for n, b in zip(self.progress(), before)))

    def end(self):
        """Ends the program; what it printed and its status."""
        with open(self.file, "r+b") as f:
            f.write(b"\1")
        out, err = self.process.communicate(timeout=60)
        return out, self.process.returncode, err


def numbers(path):
    """First and last number of each thread's ranges in a report, thread by thread, and whether there are gaps or doubles."""
    rows = sql(path, "select min(int64Value) & 0xffffffffff, max(int64Value) & 0xffffffffff, count(*), count(distinct int64Value) from NVTX_EVENTS"
                     " where eventType = 59 and int64Value is not null group by int64Value >> 40 order by int64Value >> 40")
    return [(int(a), int(b), int(b) - int(a) + 1 != int(n) or n != distinct) for a, b, n, distinct in rows]


def memory_kb(pid, what="VmRSS"):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as f:
        return next((int(line.split()[1]) for line in f if line.startswith(what)), 0)


def descriptors(pid):
    """Without the programs and libraries whose symbols are looked at: those stay open."""
    count = 0
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            count += not os.path.isfile(os.readlink(f"/proc/{pid}/fd/{fd}"))
        except OSError:
            pass
    return count


def threads_of(pid):
    return len(os.listdir(f"/proc/{pid}/task"))
