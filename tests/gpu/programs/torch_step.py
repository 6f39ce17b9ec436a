"""Launch-bound training steps.
`torch_step.py whole CHUNKS`: microseconds of a step, chunk by chunk, as a JSON list.
`torch_step.py profiler CHUNKS`: the same under torch.profiler.
`torch_step.py compare ROUNDS SECONDS LIBRARY KIND...`: windows of each kind once in a round, in random order, alone before, between and after
them, in one process: processes of the same program differ by more than what is measured. A kind is `sonde` or the settings of
bare_cupti.c, a number; at least 5 rounds, more while there are seconds left.
`torch_step.py operators ROUNDS SECONDS KIND...`: the same without a bare library; a kind is `sonde`, `profiler` or `profiler_shapes`.
`torch_step.py window STEPS`: so many steps in one window of the profiler's API."""
import ctypes
import gc
import json
import os
import random
import sys
import time

import torch

import cupti_turns

STEPS = 5
CHUNKS_INSIDE, CHUNKS_ALONE = 8, 5
CPUS = sorted(os.sched_getaffinity(0))


def training():
    torch.manual_seed(1)
    layers = []
    for _ in range(12):
        layers += [torch.nn.Linear(64, 64), torch.nn.LayerNorm(64), torch.nn.ReLU()]
    net = torch.nn.Sequential(*layers, torch.nn.Linear(64, 8)).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, foreach=False)
    data, labels = torch.randn(16, 64, device="cuda"), torch.randint(0, 8, (16,), device="cuda")

    def step():
        with torch.cuda.nvtx.range("step"):
            loss = torch.nn.functional.cross_entropy(net(data), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return step


def chunk(step):
    began = time.perf_counter()
    for _ in range(STEPS):
        step()
    torch.cuda.synchronize()
    return (time.perf_counter() - began) / STEPS * 1e6


def settle():
    """The two threads that launch have a CPU each, all others none of these: who runs where makes more difference than what is measured.
    A thread that was begun by one of them is where it was."""
    if len(CPUS) < 8:
        return
    for thread in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{thread}/comm", encoding="utf-8") as f:
            name = f.read()
        mine = CPUS[-1:] if int(thread) == os.getpid() else CPUS[-3:-2] if name.startswith("pt_autograd") else CPUS[:-4]
        os.sched_setaffinity(int(thread), mine)


def chunks(step, count):
    """So many, after two that do not count."""
    chunk(step)
    settle()
    chunk(step)
    return [chunk(step) for _ in range(count)]


def go_on(step, seconds):
    """Without a rest, in which clocks would fall and CPUs go to others."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        chunk(step)


class SondeWindow:
    """Opened and closed by the profiler's API."""

    def __init__(self):
        self.runtime, self.steps = torch.cuda.cudart(), 0

    def open(self):
        self.runtime.cudaProfilerStart()

    def close(self, step):
        """Long enough for the window to be fetched, with calls from which the agent can tell that it may go."""
        self.steps += (CHUNKS_INSIDE + 2) * STEPS
        self.runtime.cudaProfilerStop()
        go_on(step, 1.35)


class BareWindow:
    """The least a tool can do, by a library that looks CUPTI up for itself, which Sonde does not see."""

    def __init__(self, library, settings):
        self.library, self.settings = library, settings

    def open(self):
        result = self.library.bare_cupti_open(self.settings)
        if result:
            sys.exit(f"CUPTI does not take another subscriber: {result}")

    def close(self, step):
        self.library.bare_cupti_close()
        go_on(step, 0.2)


class TorchWindow:
    """torch.profiler's, CPU and CUDA; CUPTI is given back after it, as the next window is another tool's."""

    def __init__(self, shapes):
        self.shapes, self.profiler = shapes, None

    def open(self):
        from torch.profiler import ProfilerActivity, profile
        self.profiler = profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=self.shapes)
        self.profiler.start()

    def close(self, step):
        self.profiler.stop()
        self.profiler = None
        gc.collect()
        cupti_turns.give_back()
        go_on(step, 2.6)


def loaded_cupti():
    """The one that is in the process already, which Sonde uses, too; where there is none, the one that is named."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        found = sorted({line.split()[-1] for line in maps if "libcupti.so" in line})
    if not found and os.environ.get("BARE_CUPTI"):
        return os.environ["BARE_CUPTI"]
    if len(found) != 1:
        sys.exit(f"not one CUPTI in the process: {found}")
    return found[0]


def counted(step, library):
    """What one bare window records: (kernels, calls, steps)."""
    numbers = (ctypes.c_uint64 * 2)()
    window = BareWindow(library, 0)
    library.bare_cupti_count(1, numbers)
    window.open()
    chunk(step)
    window.close(step)
    library.bare_cupti_count(0, numbers)
    return [numbers[0], numbers[1], STEPS]


def compare(step, rounds, seconds, library, kinds):
    library = ctypes.CDLL(library)
    path = loaded_cupti()
    if library.bare_cupti_load(path.encode()):
        sys.exit("CUPTI cannot be used")
    windows = {kind: SondeWindow() if kind == "sonde" else BareWindow(library, int(kind)) for kind in kinds}
    return {"cupti": path, "rounds": turns(step, rounds, seconds, windows), "counted": counted(step, library), "steps": steps_of(windows)}


def operators(step, rounds, seconds, kinds):
    windows = {kind: SondeWindow() if kind == "sonde" else TorchWindow(kind == "profiler_shapes") for kind in kinds}
    return {"rounds": turns(step, rounds, seconds, windows), "steps": steps_of(windows)}


def steps_of(windows):
    """How many there are in the report."""
    return sum(window.steps for window in windows.values() if isinstance(window, SondeWindow))


def turns(step, rounds, seconds, windows):
    kinds = list(windows)
    generator, until, result = random.Random(1), time.monotonic() + seconds, []
    while len(result) < rounds and (len(result) < 5 or time.monotonic() < until):
        order = generator.sample(kinds, len(kinds))
        alone, inside = [chunks(step, CHUNKS_ALONE)], []
        for kind in order:
            windows[kind].open()
            inside.append(chunks(step, CHUNKS_INSIDE))
            windows[kind].close(step)
            alone.append(chunks(step, CHUNKS_ALONE))
        result.append({"order": order, "alone": alone, "inside": inside})
    return result


def one_window(step, count):
    window = SondeWindow()
    window.open()
    for _ in range(count):
        step()
    torch.cuda.synchronize()
    window.runtime.cudaProfilerStop()
    return count


def main(mode, count, *rest):
    step = training()
    for _ in range(10):
        chunk(step)
    gc.disable()
    if mode == "compare":
        result = compare(step, count, float(rest[0]), rest[1], list(rest[2:]))
    elif mode == "operators":
        result = operators(step, count, float(rest[0]), list(rest[1:]))
    elif mode == "window":
        result = [one_window(step, count)]
    elif mode == "profiler":
        from torch.profiler import ProfilerActivity, profile
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]):
            result = [chunk(step) for _ in range(count)]
    else:
        result = [chunk(step) for _ in range(count)]
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
