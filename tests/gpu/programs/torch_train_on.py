"""torch_train_on.py STEPS: a small training on the GPU that says when it is under way, and its losses at the end. Deterministic."""
import json
import os
import sys
import time

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # or its results vary
import torch  # noqa: E402

torch.manual_seed(7)
torch.use_deterministic_algorithms(True)
device = torch.device("cuda")
model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 1)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
data = torch.randn(256, 64, device=device)
target = data.sum(dim=1, keepdim=True)
losses = []
for step in range(int(sys.argv[1])):
    optimizer.zero_grad()
    loss = ((model(data) - target) ** 2).mean()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
    if step == 10:
        print(json.dumps({"kind": "ready"}), flush=True)
    time.sleep(0.01)
print(json.dumps({"kind": "train", "losses": losses[::20]}))
