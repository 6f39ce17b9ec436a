"""`torch_operators.py ROUNDS STEPS FOLDER`: the same steps of training a small transformer in windows of torch.profiler and of the profiler's
API in turn, in one process. Around the steps of a window is a record_function, `measured`. torch.profiler writes for each of its windows a trace
(N.json) and the rows of its table (N.table.json) into the folder. Prints the losses of all steps, to the last bit."""
import json
import os
import sys

import torch

import cupti_turns
import torch_transformer

DEVICE = "cuda"


class Training:
    def __init__(self):
        torch.manual_seed(1)
        torch.use_deterministic_algorithms(True, warn_only=True)
        self.model = torch_transformer.Model().to(DEVICE)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3, foreach=False)
        self.tokens = torch.randint(0, 1000, (8, 65))
        self.losses = []

    def step(self):
        tokens = self.tokens.to(DEVICE)
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            logits = self.model(tokens[:, :-1])
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.losses.append(loss.item().hex())

    def steps(self, count):
        for _ in range(count):
            self.step()
        synchronize()

    def measured(self, count):
        with torch.autograd.profiler.record_function("measured"):
            self.steps(count)


def synchronize():
    torch.cuda.synchronize()


def table(profiler):
    """[name, shapes, count] of key_averages(), what is on the CPU."""
    return [[row.key, row.input_shapes, row.count] for row in profiler.key_averages(group_by_input_shape=True)
            if str(row.device_type) == "DeviceType.CPU"]


def torch_window(training, steps, path):
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True) as profiler:
        training.measured(steps)
    profiler.export_chrome_trace(path + ".json")
    with open(path + ".table.json", "w", encoding="utf-8") as f:
        json.dump(table(profiler), f)


def api_window(training, steps):
    runtime = torch.cuda.cudart()
    runtime.cudaProfilerStart()
    training.measured(steps)
    runtime.cudaProfilerStop()


def main(rounds, steps, folder):
    training = Training()
    training.steps(10)
    for number in range(rounds):
        training.steps(3)
        torch_window(training, steps, os.path.join(folder, str(number)))
        cupti_turns.let_go()
        training.steps(3)
        api_window(training, steps)
    print(json.dumps({"kind": "losses", "losses": training.losses}), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
