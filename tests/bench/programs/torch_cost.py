"""What an operator costs, in ns of CPU time: rounds of three, without a window, without again, and with one. Recorded with -c nvtx -p open."""
import ctypes
import sys
import time

import torch

ROUNDS, CALLS = 120, 5000
ranges = ctypes.CDLL(sys.argv[1])
tensor = torch.ones(4, 3)
other = torch.ones(3, 2)
torch.set_num_threads(1)


def measure():
    view = tensor.view
    begin = time.thread_time_ns()
    for _ in range(CALLS):
        view(3, 4)
    return (time.thread_time_ns() - begin) / CALLS


for _ in range(20):
    torch.mm(tensor, other)
for _ in range(ROUNDS):
    closed, again = measure(), measure()
    ranges.bench_open()
    opened = measure()
    ranges.bench_close()
    print(closed, again, opened)
