"""Recordings of scripts played by the double of CUPTI (tests/double): the script is the truth."""
import itertools

from harness import *

DOUBLE = os.path.join(BUILD, "tests", "double")
PROGRAM = os.path.join(DOUBLE, "cuda_program")
CUPTI = os.path.join(DOUBLE, "libcupti.so.13")
# What cuptiGetVersion() says in the releases of CUDA.
VERSIONS = {"11.8": 18, "12.0": 19, "12.4": 22, "12.5": 23, "12.8": 26, "12.9": 28, "13.0": 130001}
# Functions by the version they came with.
NEWER = {19: ["cuptiGetErrorMessage"],
         22: ["cuptiActivityEnableDeviceGraph", "cuptiGetGraphExecId"],
         23: ["cuptiActivityEnableDriverApi", "cuptiActivityEnableRuntimeApi"],
         28: ["cuptiActivityEnableAllSyncRecords"],
         130000: ["cuptiSubscribe_v2", "cuptiActivityEnableCudaEventDeviceTimestamps"]}
numbers = itertools.count()


def library_without(names, folder=None):
    """A copy of the double whose symbol table does not know these functions."""
    folder = folder or tempfile.mkdtemp(dir=WORK)
    path = os.path.join(folder, "libcupti.so.13")
    with open(CUPTI, "rb") as f:
        image = f.read()
    for name in names:
        old = b"\0" + name.encode() + b"\0"
        assert old in image, name
        image = image.replace(old, b"\0x" + name.encode()[1:] + b"\0", 1)
    with open(path, "wb") as f:
        f.write(image)
    return path


def library_of(version):
    """The double as a release had it."""
    return library_without([name for since, names in NEWER.items() if since > version for name in names])


def write_script(lines):
    path = os.path.join(WORK, f"script-{next(numbers)}")
    with open(path, "w", encoding="ascii") as f:
        f.write("\n".join(lines) + "\n")
    return path


class Recording:
    """What came of a script: the run, the report and the log of the calls on CUPTI."""

    def __init__(self, name, lines, options=(), trace="cuda,nvtx", cupti=CUPTI, env=None, command=(PROGRAM,), timeout=60):
        self.path = report_path(name)
        self.log_path = self.path + ".log"
        self.environment = dict(os.environ)
        self.environment.update({"CUPTI_DOUBLE_SCRIPT": write_script(lines), "CUPTI_DOUBLE_LOG": self.log_path,
                                 "SONDE_CUPTI": cupti})
        self.environment.update(env or {})
        self.command = [SONDE, "profile", "-t", trace, "-s", "none", "--cpuctxsw=none", "-o", self.path, *options, *command]
        self.timeout = timeout
        self.run = None

    def go(self):
        self.run = subprocess.run(self.command, capture_output=True, text=True, env=self.environment, timeout=self.timeout)
        return self

    def start(self):
        return subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment)

    def sql(self, statement):
        return sql(self.path, statement)

    def rows(self, statement):
        """Rows with numbers as numbers; None for null."""
        def value(text):
            try:
                return int(text)
            except ValueError:
                return text if text != "" else None
        return [tuple(value(cell) for cell in row) for row in self.sql(statement)]

    def count(self, table):
        return self.rows(f"select count(*) from {table}")[0][0]

    def log(self):
        """(pid, tid, text) of each call on CUPTI."""
        if not os.path.exists(self.log_path):
            return []
        with open(self.log_path, encoding="ascii") as f:
            return [(int(pid), int(tid), text) for pid, tid, text in (line.rstrip("\n").split(" ", 2) for line in f)]

    def calls(self):
        """API calls: name, class, result, correlation, start, end, depth, inner tid, in order."""
        return self.rows("select a.name, a.class, a.result, a.correlation, a.start, a.end, t.depth, th.tid"
                         " from sonde_cuda_api a join sonde_track t on t.id = a.track"
                         " left join sonde_thread th on th.uid = t.thread order by a.start")

    def kernels(self):
        """mangled, start, end, grid and block, stream, context, correlation ... by start."""
        return self.rows("select f.mangled, k.start, k.end, l.grid_x, l.grid_y, l.grid_z, l.block_x, l.block_y, l.block_z,"
                         " s.id, s.context, k.correlation from sonde_gpu_kernel k join sonde_track t on t.id = k.track"
                         " join sonde_cuda_stream s on s.uid = t.domain join sonde_cuda_launch l on l.id = k.launch"
                         " join sonde_cuda_function f on f.id = l.function order by k.start")

    def diagnostics(self):
        return diagnostics(self.path)

    def losses(self):
        return losses(self.path)


def record(name, lines, **kwargs):
    """Plays a script under sonde profile; the program must succeed."""
    recording = Recording(name, lines, **kwargs).go()
    if recording.run.returncode != 0:
        not_ok(f"{name}: exit status", f"{recording.run.returncode}: {recording.run.stderr[-500:]}")
    return recording


def near(got, want, tolerance):
    return got is not None and abs(got - want) <= tolerance
