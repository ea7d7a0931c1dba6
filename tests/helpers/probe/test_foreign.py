"""Probing networks that nobody here wrote: four architectures of the package transformers."""

import sys

import pytest
import torch
from torch import nn

from helpers import cube
from helpers.probe import probe

N = 6
WIDTH = 16
PLACES = torch.arange(N)


class Reads(nn.Module):
    """A language model on two tokens, read by one vector at one position."""

    def __init__(self, body, at):
        super().__init__()
        self.body, self.at, self.out = body, at, nn.Linear(WIDTH, 1)

    def forward(self, bits):
        """One number for each string."""
        return self.out(self.body(input_ids=bits).last_hidden_state[:, self.at])[:, 0]


@pytest.fixture
def make(monkeypatch):
    """A maker of networks by name, with random weights and nothing read from outside."""
    # No images are read here, and a torchvision that does not fit torch cannot be imported.
    monkeypatch.setitem(sys.modules, "torchvision", None)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    t = pytest.importorskip("transformers")

    plain = {"vocab_size": 2, "attn_implementation": "eager"}
    ends = {"bos_token_id": 0, "eos_token_id": 0}
    sizes = {
        "hidden_size": WIDTH,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 32,
    }

    def network(name, spread=0.3):
        torch.manual_seed(1)
        if name == "GPT-2":
            config = t.GPT2Config(n_embd=WIDTH, n_layer=2, n_head=2, n_positions=N, **plain, **ends)
            body, at = t.GPT2Model(config), -1
        elif name == "BERT":
            config = t.BertConfig(max_position_embeddings=N, **plain, **sizes)
            body, at = t.BertModel(config, add_pooling_layer=False), 0
        elif name == "Llama":
            body, at = t.LlamaModel(t.LlamaConfig(**plain, **sizes, **ends)), -1
        else:
            config = t.MambaConfig(
                vocab_size=2,
                hidden_size=WIDTH,
                num_hidden_layers=2,
                state_size=4,
                pad_token_id=0,
                **ends,
            )
            body, at = t.MambaModel(config), -1
        model = Reads(body, at).double()
        for p in model.parameters():  # away from the tiny weights that training begins with
            p.data += spread * torch.randn_like(p)
        with torch.no_grad():  # so that half of the signs are positive
            outputs = model.eval()(torch.arange(1 << N)[:, None] >> PLACES & 1)
            model.out.bias -= outputs.quantile(0.5)
        return model.train()

    return network


def flips_one_by_one(model):
    """The obvious loop: every string alone, every flip alone."""
    strings = [[x >> k & 1 for k in range(N)] for x in range(1 << N)]
    with torch.no_grad():
        sign = {tuple(s): model.eval()(torch.tensor([s])).item() > 0 for s in strings}
    changed = [[sign[s] != sign[(*s[:k], 1 - s[k], *s[k + 1 :])] for k in range(N)] for s in sign]
    return [sum(row[k] for row in changed) / 2**N for k in range(N)], max(map(sum, changed))


@pytest.mark.parametrize("name", ["GPT-2", "BERT", "Llama", "Mamba"])
def test_a_foreign_network_has_the_influences_of_the_obvious_loop(make, name):
    model = make(name)
    report = probe(model, N, "majority", encoding="tokens", samples=64, draws=2)
    influences, largest = flips_one_by_one(model)
    assert sum(influences) > 0.1  # it is not constant, so there is something to compare
    assert report.influences == pytest.approx(influences, abs=1e-12)
    assert report.largest_sensitivity == largest
    assert report.weights == sum(p.numel() for p in model.parameters())
    norms = sum("norm" in k.lower() or "ln_" in k for k, _ in model.named_modules())
    assert len(report.blow_up) == norms


@pytest.mark.parametrize("name", ["GPT-2", "BERT", "Llama", "Mamba"])
def test_its_curvature_is_that_of_all_second_derivatives(make, name):
    model = make(name)
    model.body.requires_grad_(False)
    report = probe(model, 4, "parity", encoding="tokens", samples=64, draws=2)
    strings = cube.bits(4)  # all of them, as there are no more than samples
    with torch.no_grad():
        read = model.eval().body(input_ids=strings).last_hidden_state[:, model.at]
    # The loss is quadratic in the last layer: twice the mean square of what it is given, and of 1.
    wanted = 2 * (read.square().sum(-1).mean().item() + 1)
    assert report.trace["out"].value == pytest.approx(wanted, rel=1e-9)
