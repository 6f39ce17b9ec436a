"""Sessions of Sonde in a runtime folder of their own."""
import json
import socket

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


def until(what, seconds=10):
    end = time.monotonic() + seconds
    while not what() and time.monotonic() < end:
        time.sleep(0.01)
    return bool(what())


def launch(name, milliseconds, *options, status=6):
    """A running session, and when its program began (roughly)."""
    words = [SONDE, "launch", "-t", "nvtx", *(["--session-new=" + name] if name else []), *options, WINDOW, str(milliseconds), str(status)]
    before = len(sessions())
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=WORK)
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
    return next((int(line.split()[0]) for line in children.splitlines() if "sonde-recorder" in line), 0)


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
