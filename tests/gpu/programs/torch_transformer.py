"""Training of a small transformer as people write it: a loader with workers and pinned memory, autocast, fused attention, backward in a
thread of its own, a fused optimizer; 'compiled': through torch.compile. Prints the losses of all steps, to the last bit."""
import os
import sys

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # before CUDA begins: products are the same each time

import torch
import torch.utils.data

STEPS = 12


class Tokens(torch.utils.data.Dataset):
    def __len__(self):
        return 8 * STEPS

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        return torch.randint(0, 1000, (129,), generator=generator)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(1000, 256)
        layer = torch.nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.1, batch_first=True, norm_first=True)
        self.layers = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = torch.nn.Linear(256, 1000)

    def forward(self, tokens):
        return self.head(self.layers(self.embedding(tokens)))


def main(compiled):
    torch.manual_seed(1)
    torch.use_deterministic_algorithms(True, warn_only=True)
    model = Model().cuda()
    step_of = torch.compile(model) if compiled else model
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    loader = torch.utils.data.DataLoader(Tokens(), batch_size=8, num_workers=2, pin_memory=True)
    losses = []
    for tokens in loader:
        tokens = tokens.cuda(non_blocking=True)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            logits = step_of(tokens[:, :-1])
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.detach())
    print([loss.item().hex() for loss in losses])


if __name__ == "__main__":
    main(sys.argv[1:] == ["compiled"])
