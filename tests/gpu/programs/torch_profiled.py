"""A program that uses torch.profiler itself: 20 kernels before, 30 in its own window, 10 after. Prints what its profiler saw."""
import json

import torch
from torch.profiler import ProfilerActivity, profile


def spin(times):
    for _ in range(times):
        torch.cuda._sleep(2000)
    torch.cuda.synchronize()


def main():
    spin(20)
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        spin(30)
    seen = [event for event in profiler.events() if event.device_type == torch.autograd.DeviceType.CUDA]
    spin(10)
    kernels = sum("spin" in event.name for event in seen)
    print(json.dumps({"kind": "profiler", "events": len(seen), "kernels": kernels}), flush=True)


main()
