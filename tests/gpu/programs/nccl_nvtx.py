"""NCCL annotates its calls with binary payloads described by schemas."""
import os

import torch
import torch.distributed

os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
os.environ.setdefault("MASTER_PORT", "29533")
torch.distributed.init_process_group("nccl", rank=0, world_size=1)
data = torch.ones(1024, device="cuda")
for _ in range(3):
    torch.distributed.all_reduce(data)
torch.cuda.synchronize()
torch.distributed.destroy_process_group()
