"""Launch-bound training steps. `torch_step.py whole CHUNKS`: microseconds of a step, chunk by chunk, as a JSON list.
`torch_step.py profiler CHUNKS`: the same under torch.profiler. `torch_step.py toggle CHUNKS`: chunks outside and inside of a
window in turn."""
import ctypes
import json
import os
import sys
import time

import torch

STEPS = 10


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


def switch():
    """How a window is opened and closed: by a library that has one of its own (bare_cupti.c), or by the profiler API."""
    library = os.environ.get("CUDA_INJECTION64_PATH")
    if library:
        try:
            return ctypes.CDLL(library).bare_cupti_window
        except (OSError, AttributeError):
            pass
    runtime = torch.cuda.cudart()
    return lambda on: runtime.cudaProfilerStart() if on else runtime.cudaProfilerStop()


def leave(step):
    """Long enough for a tool to have fetched all of the window, with calls from which it can tell that it may go."""
    time.sleep(1.3)
    chunk(step)
    time.sleep(0.05)


def toggled(step, count):
    window, result = switch(), {"outside": [], "inside": []}
    for _ in range(count):
        for name, on in (("outside", 0), ("inside", 1)):
            if on:
                window(1)
                time.sleep(0.02)
            chunk(step)
            result[name].append(min(chunk(step) for _ in range(3)))
            if on:
                window(0)
                leave(step)
    return result


def main(mode, count):
    step = training()
    for _ in range(10):
        chunk(step)
    if mode == "toggle":
        result = toggled(step, count)
    elif mode == "profiler":
        from torch.profiler import ProfilerActivity, profile
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]):
            result = [chunk(step) for _ in range(count)]
    else:
        result = [chunk(step) for _ in range(count)]
    print(json.dumps(result), flush=True)


main(sys.argv[1], int(sys.argv[2]))
