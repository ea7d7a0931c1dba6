"""Modules that nobody expected: each gets its right numbers, or an error with value and remedy."""

import copy
import json
import math

import pytest
import torch
from torch import nn

from helpers import cube
from helpers.probe import probe

MANY = 1e30


class Of(nn.Module):
    """A linear map whose output is changed by a function of it and of the signs."""

    def __init__(self, change, n=4):
        super().__init__()
        self.inner, self.change = nn.Linear(n, 1).double(), change
        with torch.no_grad():
            self.inner.weight.copy_(torch.arange(1.0, n + 1)[None])
            self.inner.bias.fill_(0.5)

    def forward(self, x):
        """Whatever the change makes of one number a string."""
        return self.change(self.inner(x)[:, 0], x)


WANTED = probe(Of(lambda y, x: y), 4, samples=16, draws=2).influences
CHEAP = {"samples": 16, "draws": 2}
FEW = {"samples": 40, "draws": 2}


@pytest.mark.parametrize(
    "change",
    [
        lambda y, x: y[:, None],
        lambda y, x: torch.stack([y, 0 * y], 1),
        lambda y, x: torch.stack([0 * y + 7, 7 - y], 1),
        lambda y, x: (y * MANY).float(),
        lambda y, x: y * 1e-30,
        lambda y, x: y.half(),
        lambda y, x: y.bfloat16(),
        lambda y, x: y.sign().to(torch.int64),
        lambda y, x: torch.stack([y > 0, y <= 0], 1).to(torch.uint8),
    ],
)
def test_every_form_of_output_has_the_same_influences(change):
    assert probe(Of(change), 4, **CHEAP).influences == WANTED
    assert probe(lambda x: Of(change)(x.double()), 4, **CHEAP).influences == WANTED


def test_outputs_beyond_the_range_of_their_squares_are_said():
    report = probe(Of(lambda y, x: (y * MANY).float()), 4, "first", **CHEAP)
    assert report.loss.value > 1e60
    assert all(math.isfinite(m.value) for m in report.direction_sharpness.values())
    assert report.trace["Gauss-Newton, all"].value == pytest.approx(10 * MANY**2, rel=1e-6)
    report = probe(Of(lambda y, x: y * 1e200), 4, **CHEAP)
    assert any("is missing at" in n and "model.double()" in n for n in report.notes)


def test_a_frozen_network_is_measured_as_any():
    frozen = Of(lambda y, x: y)
    frozen.requires_grad_(False)
    report = probe(frozen, 4, **CHEAP)
    assert report.trace["Gauss-Newton, all"].value == pytest.approx(10)  # 2 (4 signs and a bias)


def test_constant_functions_and_zeros():
    zero, one = (probe(lambda x, c=c: 0 * x[:, 0] + c, 5) for c in (0.0, 1.0))
    for report in (zero, one):
        assert report.average_sensitivity.value == 0
        assert report.weight_by_degree == (1, 0, 0, 0, 0, 0)
    assert "same sign at every string" in one.notes[0]
    assert zero.notes == ("32 outputs are exactly 0, which has no sign, and were counted as -1",)
    beyond = probe(lambda x: 0 * x[:, 0] + 1, 21, "parity", samples=50)
    assert beyond.average_sensitivity == (0, pytest.approx(21 * math.sqrt(2) / 50))
    assert "same sign at every drawn string" in beyond.notes[0]


def test_a_sigmoid_and_exchanged_classes_are_noticed():
    right = probe(lambda x: x[:, 0], 5, "first")
    assert right.notes == ()
    squashed = probe(lambda x: x[:, 0].sigmoid(), 5, "first")
    assert "give what goes into it" in squashed.notes[0]
    exchanged = probe(lambda x: torch.stack((-x[:, 0], x[:, 0]), 1), 5, "first")
    assert exchanged.error_rate[0] == 1
    assert exchanged.average_sensitivity.value == 1
    assert "the classes may be exchanged" in exchanged.notes[0]


def test_batch_norm_without_statistics_is_refused_by_name():
    layer = nn.BatchNorm1d(3, track_running_stats=False)
    with pytest.raises(ValueError, match=r"not one alone.*without running statistics"):
        probe(nn.Sequential(nn.Linear(4, 3), layer, nn.Linear(3, 1)), 4, **CHEAP)


def test_one_bit_and_sixty_three():
    one = probe(lambda x: x[:, 0], 1, "parity", samples=20)
    assert one.influences == (1,)
    assert one.weight_by_degree == (0, 1)
    assert one.error_rate[0] == 0
    many = probe(lambda x: x.prod(-1), 63, "parity", samples=30)
    assert many.average_sensitivity == (63, pytest.approx(63 * math.sqrt(2) / 30))
    assert many.largest_sensitivity == 63
    assert many.error_rate[0] == 0


class WithStart(nn.Module):
    """Tokens behind a token of its own, a shared embedding, and a read-out at the start."""

    def __init__(self, n):
        super().__init__()
        self.token, self.mix = nn.Embedding(3, 6), nn.Linear(6 * (n + 1), 6)
        self.read = nn.Linear(6, 3, bias=False)
        self.read.weight = self.token.weight

    def forward(self, bits):
        """Two of three logits."""
        whole = torch.cat([torch.full_like(bits[:, :1], 2), bits], 1)
        return self.read(torch.tanh(self.mix(self.token(whole).flatten(1))))[:, :2]


def test_a_start_token_and_shared_weights():
    torch.manual_seed(0)
    report = probe(WithStart(5).double(), 5, "majority", encoding="tokens", **CHEAP)
    assert report.weights == 18 + 36 * 6 + 6
    assert set(report.norms) == {"token", "mix", "all weights"}
    assert report.trace["Gauss-Newton, all"].value > 0


def test_logits_inside_an_object_are_taken():
    class Told:
        def __init__(self, logits):
            self.logits = logits

    assert probe(Of(lambda y, x: Told(y[:, None])), 4, **CHEAP).influences == WANTED


class OwnLayerNorm(nn.Module):
    """As in many programs: the functional form inside a class of its own."""

    def forward(self, x):
        """Centred rows of unit variance."""
        return nn.functional.layer_norm(x, x.shape[-1:])


class T5LayerNorm(nn.Module):
    """A root mean square, whatever its name."""

    variance_epsilon = 0.5

    def forward(self, x):
        """Rows of unit mean square."""
        return x * (x.square().mean(-1, keepdim=True) + self.variance_epsilon).rsqrt()


class NormalNoise(nn.Module):
    """It has the name of a norm and is none."""

    def forward(self, x):
        """The same again."""
        return x + 1


def test_a_norm_is_what_it_does_and_not_its_name():
    parts = [OwnLayerNorm(), T5LayerNorm(), NormalNoise(), nn.BatchNorm1d(6), nn.LayerNorm((2, 3))]
    inner = nn.Linear(4, 6)
    seen = []
    body = nn.Sequential(inner, *parts[:4], nn.Unflatten(1, (2, 3)), parts[4], nn.Flatten())
    model = nn.Sequential(body, nn.Linear(6, 1)).double().eval()
    for part in parts:
        part.register_forward_pre_hook(lambda _, given: seen.append(given[0].detach()))
    report = probe(model, 4, **CHEAP)
    assert set(report.blow_up) == {"0.1", "0.2", "0.6"}
    seen.clear()
    model(1 - 2 * cube.bits(4).double())
    wanted = {
        "0.1": (seen[0].var(-1, correction=0) + 1e-5).rsqrt(),
        "0.2": (seen[1].square().mean(-1) + 0.5).rsqrt(),
        "0.6": (seen[4].var((1, 2), correction=0) + 1e-5).rsqrt(),
    }
    for name, factors in wanted.items():
        assert report.blow_up[name] == pytest.approx(
            (factors.max().item(), factors.mean().item()), rel=1e-9
        )


def test_a_module_that_drops_nothing_has_no_note():
    model = nn.Sequential(nn.Linear(4, 2), nn.Dropout(0.0), nn.Linear(2, 1))
    assert not any("dropout" in note for note in probe(model, 4, samples=2, draws=2).notes)
    with pytest.raises(ValueError, match="draws must be at least 2, got 1"):
        probe(model, 4, draws=1)


@pytest.mark.parametrize("part", [nn.Dropout1d(0.2), nn.MultiheadAttention(4, 1, dropout=0.1)])
def test_dropout_of_every_kind_is_said(part):
    model = Of(lambda y, x: y)
    model.unused = part
    assert any("dropout was on" in note for note in probe(model, 4, **CHEAP).notes)


@pytest.mark.parametrize(
    ("change", "given", "words"),
    [
        (lambda y, x: y > 0, {}, r"positive for \+1, got torch.bool; a bit 1 counts as -1"),
        (lambda y, x: y + 1j, {}, r"real numbers, positive for \+1, got torch.complex128"),
        (lambda y, x: y[:, None, None], {}, r"got \(8, 1, 1\); choose an output"),
        (lambda y, x: y.mean(), {}, r"got \(\); choose an output"),
        (lambda y, x: y + torch.arange(len(y)), {}, "moves by .* with the other strings"),
        (lambda y, x: 1e-9 * (y - y.mean()), {}, "moves by .* with the other strings"),
        (lambda y, x: y.flip(0), {}, "moves by .* with the other strings"),
        (lambda y, x: y + torch.rand(len(y)), {}, "moves by .* from call to call"),
        (lambda y, x: nn.functional.dropout(y, 0.5), {}, "moves by .* from call to call"),
        (lambda y, x: y / (1 + x[:, 0]), {}, "puts out -?(inf|nan) at the string [01]{4}"),
        (lambda y, x: (y * MANY).half(), {}, "puts out -?inf at the string [01]{4}; it must be"),
        (lambda y, x: y, {"samples": 1}, "samples must be at least 2, got 1"),
        (lambda y, x: y, {"samples": 0}, "samples must be at least 2, got 0"),
        (lambda y, x: y, {"target": lambda b: b[:, 0].to("meta")}, "target must give .* on meta"),
        (lambda y, x: y, {"steps": (0.1, math.nan)}, r"steps\[1\] must be a number, got nan"),
        (lambda y, x: y, {"steps": (-1.0,)}, r"steps\[0\] must be finite and at least 0, got -1"),
        (lambda y, x: y, {"encoding": "tokens"}, "cannot take n = 4 bits .* encoding = signs"),
        (lambda y, x: y, {"target": lambda b: b.float()}, r"one number each, got \(16, 4\)"),
        (lambda y, x: y, {"target": lambda b: b[:, 0] > 0}, "target must be finite numbers"),
        (lambda y, x: y, {"target": lambda b: b[:1, 0]}, r"one number each, got \(1,\)"),
        (lambda y, x: y, {"target": lambda b: b[:, 0] / 0}, "target must be finite numbers"),
    ],
)
def test_what_has_no_answer_says_what_and_how_else(change, given, words):
    with pytest.raises(ValueError, match=words):
        probe(Of(change), 4, **CHEAP | given)


def test_too_many_bits():
    with pytest.raises(ValueError, match=r"cannot take n = 5 bits .* shapes"):
        probe(Of(lambda y, x: y), 5, **CHEAP)
    with pytest.raises(ValueError, match=r"n = 1000000 bits of samples = 2048 .* fewer samples"):
        probe(lambda x: x[:, 0], 10**6)
    with pytest.raises(ValueError, match="n must be at most 67108864, got 99999999999"):
        probe(lambda x: x[:, 0], 99999999999)
    with pytest.raises(ValueError, match="n must be at least 1, got 0"):
        probe(lambda x: x[:, 0], 0)
    with pytest.raises(TypeError, match="target must be a name or a function, got int"):
        probe(lambda x: x[:, 0], 3, 7)


def test_an_encoding_a_model_or_a_target_may_write_into_what_it_is_given():
    def in_place(bits):
        bits[bits == 0] = -1
        return bits.float()

    torch.manual_seed(0)
    line = nn.Linear(6, 1)
    found, wanted = (
        probe(line, 6, "parity", encoding=e, **FEW) for e in (in_place, lambda b: 2.0 * b - 1)
    )
    assert (found.loss, found.error_rate) == (wanted.loss, wanted.error_rate)

    def target(bits):
        bits *= -2
        bits += 1
        return bits.prod(-1)

    assert probe(lambda x: x.prod(-1), 6, target, **FEW).loss.value == 0


@pytest.mark.parametrize("seed", [0, 1])
def test_strings_are_not_those_that_torch_draws_with_the_same_seed(seed):
    n = 16
    torch.manual_seed(seed)
    bits = torch.randint(0, 2, (2048, n))
    coins = 1.0 - 2 * torch.randint(0, 2, (1 << n,))
    learned = torch.full((1 << n,), -1.0)
    index = (bits << torch.arange(n)).sum(1)
    learned[index] = coins[index]

    def of(table):
        return lambda b: table[(b << torch.arange(n)).sum(1)]

    report = probe(of(learned), n, of(coins), encoding="tokens", seed=seed)
    assert report.error_rate[0] > 0.4
    assert min(report.certificates.values()) > 0.4


def test_a_start_that_is_the_weights_themselves_is_refused():
    model = nn.Linear(6, 1)
    sample = torch.zeros(9, 6).long(), torch.ones(9)
    with pytest.raises(ValueError, match=r"start\['weight'\] is the weight of the model itself"):
        probe(model, 6, start=model.state_dict(), sample=sample, networks=20, **FEW)
    start = copy.deepcopy(model.state_dict())
    assert len(probe(model, 6, start=start, sample=sample, networks=20, **FEW).certificates) == 2


class Closed(nn.Module):
    """Its forward is a lambda that holds the module, of which a copy goes on reading the first."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)
        self.call = lambda x: self.layer(x)

    def forward(self, x):
        """One number a string."""
        return self.call(x)


@pytest.mark.parametrize("frozen", [False, True])
def test_a_copy_that_reads_the_model_itself_is_refused(frozen):
    model = Closed().requires_grad_(not frozen)
    with pytest.raises(ValueError, match=r"still reads the weight 'layer\.(weight|bias)'"):
        probe(model, 4, **FEW)
    assert {p.requires_grad for p in model.parameters()} == {not frozen}


def test_layers_in_a_plain_list_are_said_and_not_certified():
    class Listed(nn.Module):
        def __init__(self):
            super().__init__()
            self.hidden, self.out = [nn.Linear(4, 8)], nn.Linear(8, 1)

        def forward(self, x):
            return self.out(self.hidden[0](x).tanh())

    report = probe(Listed(), 4, trained_on=10**5, **FEW)
    assert "weights that the module does not list" in report.notes[0]
    assert not report.certificates


def test_weights_in_buffers_are_counted():
    class Packed(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("q", torch.ones(1, 12, dtype=torch.int8))
            self.scale = nn.Parameter(torch.ones(1))

        def forward(self, x):
            return self.scale * (x @ self.q.T.to(x.dtype)) + 0.5

    assert list(probe(Packed(), 12, trained_on=10**5, **FEW).certificates) == ["Occam, 128 bits"]


def test_a_norm_over_channels_is_no_norm_of_a_row():
    class ChannelNorm(nn.Module):
        def forward(self, x):
            return (x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True)

    class PairNorm(nn.Module):
        def forward(self, x):
            return x / x.std(-1, keepdim=True), x.sum()

    class First(nn.Module):
        def forward(self, pair):
            return pair[0]

    body = nn.Conv1d(1, 5, 3, padding=1), ChannelNorm(), PairNorm(), First(), nn.Flatten()
    model = nn.Sequential(nn.Unflatten(1, (1, 6)), *body, nn.Linear(30, 1))
    assert probe(model, 6, **FEW).blow_up == {}


def test_experts_of_a_capacity_are_refused():
    class Capacity(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(6, 1), nn.Linear(6, 1)

        def forward(self, x):
            to = x[:, 0] > 0
            return torch.where((to & (to.cumsum(0) <= 16))[:, None], self.a(x), self.b(x))

    with pytest.raises(ValueError, match="with the other strings of its batch"):
        probe(Capacity(), 6, samples=64, draws=2)


@pytest.mark.parametrize("offset", [0, 300, 3000])
def test_rounding_does_not_hide_a_layer_that_is_detached(offset):
    class Detached(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner, self.out = nn.Linear(8, 64), nn.Linear(64, 1)

        def forward(self, x):
            return self.out(self.inner(x).tanh().detach()) + offset

    torch.manual_seed(0)
    assert probe(Detached(), 8, "parity", samples=64, draws=2).trace == {}


def test_squeeze_and_a_train_of_ones_own():
    class Own(nn.Linear):
        def train(self, mode=True):
            super().train(mode)

        def forward(self, x):
            return super().forward(x).squeeze()

    assert len(probe(Own(4, 1), 4, **FEW).trace) == 4


def test_a_weight_that_is_no_number_is_named_before_the_work():
    class Masked(nn.Linear):
        def __init__(self):
            super().__init__(4, 1)
            self.mask = nn.Parameter(torch.tensor([0.0, -math.inf]), requires_grad=False)

        def forward(self, x):
            return super().forward(x) + self.mask.exp()[1]

    with pytest.raises(
        ValueError, match="'mask' of the model holds -inf; load it again, or make a mask a buffer"
    ):
        probe(Masked(), 4, **FEW)


def test_labels_of_the_other_class_are_said_and_a_norm_called_by_keyword_is_seen():
    class Named(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.out = nn.LayerNorm(4), nn.Linear(4, 1)

        def forward(self, x):
            return self.out(self.norm(input=x))

    torch.manual_seed(0)
    model, bits = Named(), torch.randint(0, 2, (300, 4))
    with torch.no_grad():
        labels = -model((1 - 2 * bits).float())[:, 0].sign()
    report = probe(model, 4, sample=(bits, labels), networks=20, **FEW)
    assert list(report.blow_up) == ["norm"]
    assert any("signs of the sample are wrong" in note for note in report.notes)


def test_weights_that_do_nothing_are_named():
    class Idle(nn.Linear):
        def __init__(self):
            super().__init__(4, 1)
            self.spare = nn.Parameter(torch.ones(2))

    assert any("slope of outputs in spare is 0" in n for n in probe(Idle(), 4, **FEW).notes)


def test_what_a_call_makes_itself_is_no_unlisted_weight():
    class Energy(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(4, 1)

        def forward(self, x):
            with torch.enable_grad():
                x = x.detach().requires_grad_()
                energy = self.inner(x).tanh()
                (force,) = torch.autograd.grad(energy.sum(), x, create_graph=True)
            return energy[:, 0] + force.sum(-1)

    report = probe(Energy(), 4, trained_on=10**5, **FEW)
    assert list(report.certificates) == ["Occam, 160 bits"]
    assert not any("does not list" in note for note in report.notes)


def test_all_that_a_module_stores_is_counted_whatever_its_state_dict_says():
    class Adapted(nn.Module):
        def __init__(self):
            super().__init__()
            self.out = nn.Linear(4, 1)
            self.register_buffer("graph", torch.eye(4).to_sparse())

        def forward(self, x):
            return self.out(x @ self.graph.to_dense())

        def state_dict(self, *given, **named):
            return {}

    report = probe(Adapted(), 4, trained_on=10**5, bits_stored=8, **FEW)
    assert list(report.certificates) == [f"Occam, {5 * 8 + 32 * 16} bits"]


def test_a_map_of_one_row_that_is_called_a_norm_is_none():
    class NoiseNorm(nn.Module):
        def forward(self, row):
            return 3 * row + 1

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.row = NoiseNorm(), nn.Parameter(torch.randn(1, 4))

        def forward(self, x):
            return x @ self.norm(self.row)[0]

    assert probe(Model(), 4, **FEW).blow_up == {}


def test_a_model_that_is_still_read_in_training_is_named_before_its_noise():
    class Dropped(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Sequential(nn.Dropout(0.5), nn.Linear(4, 1))
            self.call = lambda x: self.inner(x)

        def forward(self, x):
            return self.call(x)

    with pytest.raises(ValueError, match="still reads the weight"):
        probe(Dropped(), 4, **FEW)


def test_a_little_dropout_in_forward_is_always_noticed():
    class Dropped(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.out = nn.Linear(6, 5), nn.Linear(5, 1)

        def forward(self, x):
            return self.out(nn.functional.dropout(self.a(x).tanh(), 0.01))

    for seed in range(40):
        torch.manual_seed(seed)
        with pytest.raises(ValueError, match="from call to call; take what is random out of it"):
            probe(Dropped(), 6, samples=64, draws=2)


def test_noise_below_a_thousandth_is_noticed_and_rounding_is_not():
    class Noisy(nn.Linear):
        def forward(self, x):
            return super().forward(x) + 1e-7 * torch.randn(len(x), 1).to(x)

    class NoisyBesideLarge(nn.Linear):
        def forward(self, x):
            return torch.where(x[:, :1] < 0, 1000.0, 0.1 * torch.randn(len(x), 1))

    torch.manual_seed(0)
    for model in (Noisy(6, 1).double(), NoisyBesideLarge(6, 1)):
        with pytest.raises(ValueError, match="from call to call"):
            probe(model, 6, **FEW)
    assert probe(Noisy(6, 1), 6, **FEW).trace


def test_a_model_that_cannot_take_its_strings_is_told_all_that_it_may_be():
    class Fixed(nn.Linear):
        def forward(self, x):
            return super().forward(x) + torch.zeros(32, 1)

    class Cast(nn.Linear):
        def forward(self, x):
            return super().forward(x.bfloat16())

    with pytest.raises(ValueError, match="it must take any number of strings at once") as fixed:
        probe(Fixed(4, 1), 4, **FEW)
    assert "float32" not in str(fixed.value)
    with pytest.raises(
        ValueError, match=r"weights were made float32; .* give a function that calls"
    ):
        probe(Cast(4, 1).bfloat16(), 4, **FEW)
    model = Cast(4, 1).bfloat16()
    assert probe(lambda x: model(x), 4, **FEW).influences


class Broken(torch.autograd.Function):
    """Its derivative fails with a long text."""

    @staticmethod
    def forward(ctx, x):
        """The same again."""
        return x.clone()

    @staticmethod
    def backward(ctx, slope):
        """None."""
        raise RuntimeError("reason " * 100)


def test_a_note_is_not_cut_in_a_word():
    report = probe(Of(lambda y, x: Broken.apply(y)), 4, **CHEAP)
    note = report.notes[-1]
    assert note.startswith("the trace is missing: reason reason")
    assert note.count("reason") == 56
    assert "reason...; use operations" in note
    report = probe(Of(lambda y, x: y + (y.round() - y).detach()), 4, **CHEAP)
    assert "if only model.double() is exact enough; use operations" in report.notes[-1]


@pytest.mark.parametrize(
    "steps",
    [[0.5, 1], torch.tensor([0.5, 1]), torch.tensor([0.5, 1]).numpy(), (s for s in (0.5, 1.0))],
)
def test_steps_of_every_kind_have_plain_numbers_as_keys(steps):
    report = probe(nn.Linear(4, 1), 4, steps=steps, **CHEAP)
    assert list(json.loads(json.dumps(report.as_dict()))["direction_sharpness"]) == ["0.5", "1.0"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"steps": 0.1}, r"steps must be lengths such as \(0.1,\), got 0.1"),
        ({"steps": ("a",)}, r"steps\[0\] must be a number, got 'a'"),
        ({"steps": torch.ones(2, 2)}, r"steps\[0\] must be a number, got a tensor of shape \(2,\)"),
        ({"progress": None}, "progress must be a function of a text, got NoneType"),
        ({"progress": 3}, "progress must be a function of a text, got int"),
    ],
)
def test_what_is_of_another_type_is_named_before_the_work(given, words):
    with pytest.raises(TypeError, match=words):
        probe(nn.Linear(4, 1), 4, **CHEAP | given)


def test_weights_of_eight_bits_are_measured_in_single_precision():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 1))
    small = copy.deepcopy(model)
    coarse = model[0].weight.data.to(torch.float8_e4m3fn)
    small[0].weight = nn.Parameter(coarse, requires_grad=False)
    model[0].weight.data = coarse.float()
    found, wanted = (probe(m, 4, "parity", **CHEAP) for m in (small, model))
    assert found.trace == wanted.trace
    assert found.notes[0] == "half precision or less was measured in float32"
    assert small[0].weight.dtype == torch.float8_e4m3fn
