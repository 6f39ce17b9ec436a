"""A program that works until it is told to end, and knows what every step has to give: for recordings that come and go.

Usage: guest.py torch|cupy|jax LOG [STEPS]      begins with "ready", ends at SIGTERM (or after STEPS) with a line of JSON.
LOG gets, for each step, two doubles: when it began (CLOCK_MONOTONIC) and how long it took. Steps come in cycles that begin
anew from the same state, so that each one's result is that of the same step in the first cycle, bit for bit."""
import array
import json
import os
import signal
import sys
import time

CYCLE = 20
ending = False


def end(*_):
    global ending
    ending = True


class Torch:
    """A training: forward, backward on a thread of its own, an optimizer, copies from the host."""

    def __init__(self):
        import torch
        from torch import nn
        self.torch = torch
        torch.use_deterministic_algorithms(True)
        torch.backends.cuda.enable_flash_sdp(False)
        torch.backends.cuda.enable_mem_efficient_sdp(False)
        torch.backends.cuda.enable_cudnn_sdp(False)

        class Block(nn.Module):
            def __init__(self, width):
                super().__init__()
                self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
                self.attention = nn.MultiheadAttention(width, 8, batch_first=True)
                self.layers = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

            def forward(self, x):
                normed = self.norm1(x)
                x = x + self.attention(normed, normed, normed, need_weights=False)[0]
                return x + self.layers(self.norm2(x))

        torch.manual_seed(0)
        self.model = nn.Sequential(*[Block(256) for _ in range(8)], nn.Linear(256, 10)).cuda()
        self.start = {name: value.clone() for name, value in self.model.state_dict().items()}
        self.loss = nn.CrossEntropyLoss()

    def begin_cycle(self):
        self.torch.manual_seed(1)
        self.model.load_state_dict(self.start)
        self.optimizer = self.torch.optim.Adam(self.model.parameters(), lr=1e-4, foreach=False)
        self.losses = []

    def step(self):
        x = self.torch.randn(16, 64, 256).to("cuda", non_blocking=True)
        y = self.torch.randint(0, 10, (16 * 64,)).to("cuda")
        loss = self.loss(self.model(x).view(-1, 10), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.losses.append(loss.detach())

    def end_cycle(self):
        return self.torch.stack(self.losses).cpu().numpy().tobytes()


class Cupy:
    """Kernels compiled at run time, several streams, memory of a pool."""

    def __init__(self):
        import cupy
        self.cupy = cupy
        self.streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(4)]

    def begin_cycle(self):
        self.random = self.cupy.random.RandomState(1)
        self.base = self.random.randint(0, 1000, (4, 1 << 16)).astype(self.cupy.int64)
        self.sums = []
        self.cupy.cuda.get_current_stream().synchronize()

    def step(self):
        for i, stream in enumerate(self.streams):
            with stream:
                part = self.base[i]
                for _ in range(20):
                    part = (part * 31 + 7) % 1000003
                self.sums.append(self.cupy.sort(part)[::100].sum())
        for stream in self.streams:
            stream.synchronize()

    def end_cycle(self):
        return b"".join(int(value).to_bytes(8, "little") for value in self.sums)


class Jax:
    """Compiled steps, launched by threads of XLA's."""

    def __init__(self):
        import jax
        import jax.numpy as np
        self.jax = jax
        self.x = jax.random.normal(jax.random.PRNGKey(0), (256, 256))

        @jax.jit
        def step(weights, x):
            grad = jax.grad(lambda w: np.sum(np.tanh(x @ w) ** 2))(weights)
            return weights - 1e-4 * grad

        self.run = step

    def begin_cycle(self):
        self.weights = self.jax.random.normal(self.jax.random.PRNGKey(1), (256, 256))

    def step(self):
        for _ in range(10):
            self.weights = self.run(self.weights, self.x)
        self.weights.block_until_ready()

    def end_cycle(self):
        return bytes(memoryview(self.jax.device_get(self.weights)).cast("B"))


def main():
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    os.environ.setdefault("XLA_FLAGS", "--xla_gpu_deterministic_ops=true")
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    work = {"torch": Torch, "cupy": Cupy, "jax": Jax}[sys.argv[1]]()
    limit = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    signal.signal(signal.SIGTERM, end)
    times, steps, wrong, first = array.array("d"), 0, 0, None
    while not ending and (not limit or steps < limit):
        work.begin_cycle()
        for _ in range(CYCLE):
            began = time.monotonic()
            work.step()
            times.extend((began, time.monotonic() - began))
            steps += 1
        result = work.end_cycle()
        if first is None:
            first = result
            print("ready", flush=True)
        elif result != first:
            wrong += 1
    with open(sys.argv[2], "wb") as log:
        times.tofile(log)
    print(json.dumps({"steps": steps, "wrong": wrong}), flush=True)


main()
