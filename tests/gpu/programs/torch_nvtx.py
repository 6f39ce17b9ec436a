"""Ranges made through PyTorch, in the main process and in forked loader workers."""
import torch
import torch.utils.data


class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        torch.cuda.nvtx.range_push("load item")
        item = torch.full((4,), float(index))
        torch.cuda.nvtx.range_pop()
        return item


def main():
    for _ in torch.utils.data.DataLoader(Numbers(), batch_size=2, num_workers=2):
        pass
    model = torch.nn.Linear(64, 64).cuda()
    data = torch.randn(32, 64, device="cuda")
    whole = torch.cuda.nvtx.range_start("whole")
    for step in range(5):
        torch.cuda.nvtx.range_push(f"step {step}")
        with torch.cuda.nvtx.range("forward"):
            result = model(data)
        with torch.cuda.nvtx.range("backward"):
            result.sum().backward()
        torch.cuda.nvtx.mark("stepped")
        torch.cuda.nvtx.range_pop()
    torch.cuda.nvtx.range_end(whole)
    torch.cuda.synchronize()


main()
