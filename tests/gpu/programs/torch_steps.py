"""torch_steps.py STEPS: steps in ranges `step N`, each with N + 1 additions on the GPU that nobody waits for, then half a millisecond of work
for the GPU that is still under way when the next step begins."""
import json
import sys
import time

import torch

x = torch.zeros(1000, device="cuda")
torch.cuda._sleep(1000)
torch.cuda.synchronize()
for step in range(int(sys.argv[1])):
    torch.cuda.nvtx.range_push(f"step {step}")
    for _ in range(step + 1):
        x.add_(1)
    torch.cuda._sleep(1000000)
    torch.cuda.nvtx.range_pop()
    time.sleep(0.005)
torch.cuda.synchronize()
print(json.dumps({"kind": "steps", "sum": x[0].item()}))
