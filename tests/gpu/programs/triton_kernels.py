"""A kernel of Triton's, ten times."""
import json

import torch
import triton
import triton.language as tl


@triton.jit
def add_in_blocks(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask), mask=mask)


def main():
    n = 10000
    x, y = torch.ones(n, device="cuda"), torch.ones(n, device="cuda")
    out = torch.empty_like(x)
    for _ in range(10):
        add_in_blocks[(triton.cdiv(n, 1024),)](x, y, out, n, BLOCK=1024)
    torch.cuda.synchronize()
    right = bool((out == 2).all().item())
    print(json.dumps({"kind": "kernel", "name": "add_in_blocks", "count": 10, "grid": [10, 1, 1], "right": right}))


main()
