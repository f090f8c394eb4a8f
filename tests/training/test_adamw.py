"""AdamW against PyTorch's own."""

import torch

from headwise.training.optimizer import AdamW


def test_equals_torch_bit_for_bit():
    torch.manual_seed(0)
    start = [torch.randn(*shape) for shape in ((7, 5), (5,), (3, 2), (40, 30))]
    ours, theirs = ([torch.nn.Parameter(x.clone()) for x in start] for _ in range(2))

    def groups(parameters):
        return [
            {"params": parameters[:2], "lr": 1e-2, "weight_decay": 0.0},
            {"params": parameters[2:], "lr": 3e-3, "weight_decay": 0.1},
        ]

    mine, peer = AdamW(groups(ours)), torch.optim.AdamW(groups(theirs), fused=True)
    for step in range(12):
        for number, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            if number != 2 or step % 3 == 1:  # one has gradients now and then only
                a.grad = torch.randn_like(a)
                b.grad = a.grad.clone()
        for optimizer in (mine, peer):
            optimizer.param_groups[1]["lr"] = 3e-3 / (1 + step)
            optimizer.step()
            optimizer.zero_grad()
        assert all(p.grad is None for p in ours)
        for a, b in zip(ours, theirs, strict=True):
            assert torch.equal(a, b)
    for a, b in zip(ours, theirs, strict=True):
        assert set(mine.state[a]) == set(peer.state[b])
        assert all(torch.equal(mine.state[a][key], peer.state[b][key]) for key in mine.state[a])
