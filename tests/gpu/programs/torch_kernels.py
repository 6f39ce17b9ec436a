"""`torch_kernels.py ROUNDS STEPS FOLDER`: the same training steps in windows of torch.profiler and of the profiler's API in turn, in one
process: what a kernel takes depends on where its memory lies, too. torch.profiler writes a trace of each of its windows into the folder;
those of the API are NVTX ranges, `measured`."""
import os
import sys

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

import torch  # noqa: E402
import cupti_turns  # noqa: E402

# The GPU begins with the work of a step when all of it is queued. Otherwise what a tool costs the CPU decides how long the GPU is idle
# between two kernels and how warm its caches are, which shows in their times, and times are compared here.
HOLD = 40000000  # clock cycles, some 20 ms


def model():
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 32, 3), torch.nn.BatchNorm2d(32), torch.nn.ReLU(), torch.nn.Conv2d(32, 64, 3), torch.nn.GELU(),
        torch.nn.AdaptiveAvgPool2d(4), torch.nn.Flatten(), torch.nn.Linear(1024, 512), torch.nn.LayerNorm(512),
        torch.nn.Linear(512, 10)).cuda()


class Training:
    def __init__(self):
        torch.manual_seed(1)
        torch.use_deterministic_algorithms(True, warn_only=True)
        torch.backends.cudnn.benchmark = False
        self.net = model()
        self.optimizer = torch.optim.AdamW(self.net.parameters(), lr=1e-3, foreach=False)
        self.images = torch.randn(64, 3, 32, 32).pin_memory()
        self.labels = torch.randint(0, 10, (64,)).pin_memory()
        self.side = torch.cuda.Stream()

    def step(self):
        torch.cuda._sleep(HOLD)
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            images = self.images.cuda(non_blocking=True) * 2
        torch.cuda.current_stream().wait_stream(self.side)
        loss = torch.nn.functional.cross_entropy(self.net(images), self.labels.cuda(non_blocking=True))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss

    def steps(self, count):
        for _ in range(count):
            loss = self.step()
            torch.cuda.synchronize()
        return loss.item()


def torch_window(training, steps, trace):
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        training.steps(steps)
    profiler.export_chrome_trace(trace)


def api_window(training, steps):
    runtime = torch.cuda.cudart()
    runtime.cudaProfilerStart()
    torch.cuda.nvtx.range_push("measured")
    training.steps(steps)
    torch.cuda.nvtx.range_pop()
    runtime.cudaProfilerStop()


def main(rounds, steps, folder):
    training = Training()
    training.steps(30)
    for number in range(rounds):
        training.steps(3)
        torch_window(training, steps, os.path.join(folder, f"{number}.json"))
        cupti_turns.let_go()
        training.steps(3)
        api_window(training, steps)


main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
