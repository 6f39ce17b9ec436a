#!/usr/bin/env python3
"""Records the traces of this folder and what torch counted in them; needs a GPU. Those here are of torch 2.11 on an H200, without
Python's functions and the arrows between calls and kernels.

  transformer  training, batches from two loader processes and a thread that pins them, memory, synchronisation
  graph        a compiled model in a CUDA graph
  threads      four threads at work, the profiler stopped by one of them; memory
  nccl         distributed training on one GPU, an all-reduce and a barrier
"""
import gzip
import json
import sys
import threading

import torch
import torch.distributed as dist
from torch import nn
from torch._C._profiler import _ExperimentalConfig
from torch.profiler import profile, record_function, schedule

FOLDER = sys.argv[1]


def row(event, shape):
    return {"shape": shape, "key": event.key, "count": event.count, "self_cpu": event.self_cpu_time_total,
            "cpu": event.cpu_time_total, "self_dev": event.self_device_time_total, "dev": event.device_time_total,
            "self_cpu_mem": event.self_cpu_memory_usage, "cpu_mem": event.cpu_memory_usage,
            "self_dev_mem": event.self_device_memory_usage, "dev_mem": event.device_memory_usage,
            "shapes": str(event.input_shapes), "dtype": str(event.device_type)}


def save(profiler, name):
    profiler.export_chrome_trace(f"{FOLDER}/{name}.json")
    with open(f"{FOLDER}/{name}.json") as source:
        trace = json.load(source)
    trace["traceEvents"] = [e for e in trace["traceEvents"] if e.get("cat") not in ("python_function", "ac2g")]
    with gzip.open(f"{FOLDER}/{name}.json.gz", "wt") as out:
        json.dump(trace, out)
    with gzip.open(f"{FOLDER}/{name}.key_averages.json.gz", "wt") as out:
        json.dump([row(event, shape) for shape in (False, True)
                   for event in profiler.key_averages(group_by_input_shape=shape)], out)


def record_steps(name, step, **options):
    with profile(schedule=schedule(wait=1, warmup=1, active=2, repeat=1), on_trace_ready=lambda p: save(p, name),
                 **options) as profiler:
        for _ in range(6):
            step()
            profiler.step()


def transformer():
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, 128, batch_first=True), 2).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    batches = iter(torch.utils.data.DataLoader(torch.randn(64, 8, 16, 64), num_workers=2, pin_memory=True))

    def step():
        x = next(batches)[0].cuda(non_blocking=True)
        with record_function("fw"):
            loss = model(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss.item()

    record_steps("transformer", step, record_shapes=True, profile_memory=True, with_stack=True,
                 experimental_config=_ExperimentalConfig(enable_cuda_sync_events=True))


def graph():
    model = torch.compile(nn.Sequential(nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 8)).cuda(), mode="reduce-overhead")

    def step():
        with torch.no_grad():
            model(torch.randn(32, 64, device="cuda")).sum().item()

    for _ in range(4):
        step()
    record_steps("graph", step, record_shapes=True)


def threads():
    def work():
        a = torch.randn(99, 99, device="cuda")
        for _ in range(20):
            a = (a @ a).tanh()
            a.cpu()

    with profile(profile_memory=True) as profiler:
        others = [threading.Thread(target=work) for _ in range(3)]
        for thread in others:
            thread.start()
        work()
        for thread in others:
            thread.join()
        torch.cuda.synchronize()
    save(profiler, "threads")


def nccl():
    dist.init_process_group("nccl", init_method=f"file://{FOLDER}/meeting", rank=0, world_size=1)
    model = nn.parallel.DistributedDataParallel(nn.Linear(64, 64).cuda())

    def step():
        model(torch.randn(8, 64, device="cuda")).sum().backward()
        dist.all_reduce(torch.ones(9, device="cuda"), async_op=True).wait()
        dist.barrier()

    record_steps("nccl", step, record_shapes=True)
    dist.destroy_process_group()


for kind in (transformer, graph, threads, nccl):
    kind()
