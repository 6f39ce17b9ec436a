"""A few seconds of training with loader workers; prints what must not change, and steps per second on stderr."""
import sys
import time

import torch
import torch.utils.data


class Images(torch.utils.data.Dataset):
    def __len__(self):
        return 4096

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        return torch.randn(3, 32, 32, generator=generator), index % 10


def main(seconds):
    torch.manual_seed(1)
    torch.use_deterministic_algorithms(True, warn_only=True)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 32, 3), torch.nn.ReLU(), torch.nn.Conv2d(32, 32, 3), torch.nn.ReLU(),
        torch.nn.AdaptiveAvgPool2d(4), torch.nn.Flatten(), torch.nn.Linear(512, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = torch.utils.data.DataLoader(Images(), batch_size=32, num_workers=2)
    steps, first = 0, None
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        for images, labels in loader:
            loss = torch.nn.functional.cross_entropy(model(images.cuda()), labels.cuda())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            steps += 1
            if steps == 20:
                first = loss.item()
            if time.monotonic() - began > seconds:
                break
    torch.cuda.synchronize()
    print(f"loss of step 20: {first:.4f}")
    print(f"{steps / (time.monotonic() - began):.1f} steps/s", file=sys.stderr)


if __name__ == "__main__":
    main(float(sys.argv[1]))
