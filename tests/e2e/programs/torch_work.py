"""Work for e2e/t_torch_record: operators of PyTorch in ways that are told apart. The first argument says which."""
import json
import os
import sys
import threading

import torch

torch.manual_seed(1)
torch.set_num_threads(1)


def step(model, data, target):
    with torch.autograd.profiler.record_function("step"):
        loss = torch.nn.functional.mse_loss(model(data), target)
        loss.backward()
    return loss


def fail_within():
    """An exception that goes through operators."""
    for _ in range(3):
        try:
            with torch.autograd.profiler.record_function("fails"):
                torch.mm(torch.ones(2, 3), torch.ones(2, 3))
        except RuntimeError:
            pass


def train():
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(4 * 36, 5))
    for _ in range(3):
        step(model, torch.randn(2, 3, 8, 8), torch.randn(2, 5))
    fail_within()
    torch.cat([torch.ones(2), torch.zeros(3)]).view(5, 1).expand(5, 4).sum(dim=[0, 1])
    for dtype in (torch.float64, torch.int64, torch.int32, torch.bool, torch.uint8, torch.complex64, torch.bfloat16):
        torch.ones(2, 1, 3, 1, 2, 1, 2).to(dtype).sum().mul(3)
    for i in range(4):
        with torch.autograd.profiler.record_function(f"numbered #{i} " + "x" * 50 * i):
            torch.ones(i + 1).add_(1).mul(2.5)
    return model


def below(depth):
    if depth:
        with torch.autograd.profiler.record_function("deep"):
            below(depth - 1)


def event(e):
    return [e.name, e.thread, e.sequence_nr, e.fwd_thread or 0, e.time_range.start, e.time_range.end, 0, e.input_shapes or []]


def compared(path, work):
    """The work, seen by torch's own profiler at the same time."""
    with torch.autograd.profiler_legacy.profile(record_shapes=True) as seen:
        with torch.autograd.profiler.record_function("it begins"):
            pass
        work()
        with torch.autograd.profiler.record_function("it ends"):
            pass
    with open(path, "w", encoding="utf-8") as f:
        json.dump([event(e) for e in seen.function_events], f)


def in_thread():
    torch.ones(2).neg()


class Squares(torch.utils.data.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return torch.full((1,), float(index)).square()


def main(how, path):
    if how == "train":
        compared(path, train)
    elif how == "deep":
        sys.setrecursionlimit(10000)
        below(1100)
        torch.ones(1).neg()
    elif how == "threads":
        for _ in range(10):
            some = [threading.Thread(target=in_thread) for _ in range(8)]
            for thread in some:
                thread.start()
            for thread in some:
                thread.join()
    elif how == "workers":
        loader = torch.utils.data.DataLoader(Squares(), batch_size=2, num_workers=2)
        with torch.autograd.profiler.record_function("epoch"):
            print(sorted(float(x) for batch in loader for x in batch.flatten()))
    elif how == "dies":
        with torch.autograd.profiler.record_function("never ends"):
            torch.ones(2).neg()
            os._exit(3)
    elif how == "waits":
        torch.ones(2).neg()
        print("ready", flush=True)
        ending = threading.Thread(target=sys.stdin.readline)
        ending.start()
        while ending.is_alive():
            torch.ones(2).abs()
        print("ended", flush=True)


main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None)
