"""Several processes on one GPU: `torch_ranks.py` as started by torchrun (DDP over gloo), `torch_ranks.py spawn` by multiprocessing.
Each says its pid and how many spinning kernels it launched."""
import json
import os
import sys

import torch
import torch.distributed
import torch.multiprocessing


def spin(rank):
    times = 20 + rank
    for _ in range(times):
        torch.cuda._sleep(2000)
    torch.cuda.synchronize()
    # One write, so that lines of processes do not mix.
    os.write(1, (json.dumps({"kind": "rank", "rank": rank, "pid": os.getpid(), "spins": times}) + "\n").encode())


def train(rank):
    torch.distributed.init_process_group("gloo")
    net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(64, 64).cuda())
    for _ in range(3):
        net(torch.randn(8, 64, device="cuda")).sum().backward()
    spin(rank)
    torch.distributed.destroy_process_group()


def main():
    if sys.argv[1:] == ["spawn"]:
        torch.multiprocessing.spawn(spin, nprocs=2)
    else:
        train(int(os.environ["RANK"]))


if __name__ == "__main__":
    main()
