"""The benchmarks' timing, table and record."""

import json
import sys

import pytest

from benchmarks import _measure
from benchmarks._measure import Remote, Stats, compare, peers_python, record, table


def test_quartiles_of_one_to_five():
    assert Stats.of([5.0, 1.0, 4.0, 2.0, 3.0]) == Stats(3.0, 2.0, 4.0, 5)
    assert Stats.of([7.0]) == Stats(7.0, 7.0, 7.0, 1)


def test_cases_are_called_in_turn_and_the_first_one_rotates():
    calls = []
    ticks = iter(range(1000))
    cases = {name: lambda name=name: calls.append(name) for name in "abc"}
    stats = compare(cases, rounds=3, at_least=1, clock=lambda: next(ticks))
    assert calls == list("aabbcc" + "abc" + "bca" + "cab")
    assert stats == dict.fromkeys("abc", Stats(1, 1, 1, 3))


def test_a_short_call_is_repeated_until_the_clock_can_tell():
    now = [0.0]

    def case():
        now[0] += 0.001

    stats = compare({"a": case}, rounds=2, at_least=0.01, clock=lambda: now[0])
    assert stats["a"].median == pytest.approx(0.001)
    assert now[0] == pytest.approx(0.001 * (2 + 2 * 10))


def test_a_remote_case_is_timed_in_its_own_process():
    with Remote(sys.executable, "def call(): sum(range(20000))") as remote:
        assert remote.seconds(50) > 5 * remote.seconds(1) > 0


def test_a_remote_case_that_fails_says_so():
    with (
        Remote(sys.executable, "raise SystemExit(3)") as remote,
        pytest.raises((RuntimeError, BrokenPipeError)),
    ):
        remote()


def test_an_absent_peer_is_no_peer(monkeypatch):
    monkeypatch.delenv("PEERS", raising=False)
    assert peers_python("json") is None
    monkeypatch.setenv("PEERS", sys.executable)
    assert peers_python("json") == sys.executable
    assert peers_python("no_such_library") is None


def test_a_table_is_aligned_and_shows_what_is_missing():
    text = table([{"n": 4, "ns": 0.123456}, {"n": 12, "ns": None}])
    assert text.splitlines() == [" n     ns", "--  -----", " 4  0.123", "12      -"]


def test_a_record_says_what_it_was_measured_on(tmp_path):
    path = record("kernel", [{"n": 4, "ns": 1.5}], tmp_path, remark="here")
    stored = json.loads(path.read_text())
    assert stored["rows"] == [{"n": 4, "ns": 1.5}]
    assert stored["remark"] == "here"
    assert stored["environment"]["processor"]
    assert stored["environment"]["versions"]["torch"] == _measure._version("torch")


def test_a_record_that_cannot_be_written_whole_leaves_the_one_before(tmp_path, monkeypatch):
    path = record("kernel", [{"n": 4, "ns": 1.5}], tmp_path / "records")
    before = path.read_text()

    def full(file):
        raise OSError("no space")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="no space"):
        record("kernel", [{"n": 4, "ns": 9.5}], path.parent)
    assert path.read_text() == before
    assert list(path.parent.iterdir()) == [path]
