"""The programs of tools/old_programs run as they are, and once more when they are converted."""

import json
import re
import sys
from pathlib import Path

import pytest

import forked
from tf_frame_legacy.source import convert

PROGRAMS = Path(__file__).parents[4] / "tools" / "old_programs"
DRIVER = Path(__file__).with_name("old_program_runs.py")
NAMES = sorted(path.name for path in PROGRAMS.glob("*.py"))
# Those that train longest; contrib.crf, contrib.rnn, contrib.seq2seq, slim and
# replicate_model_fn have quicker tests.
SLOW = ("crf_tagger.py", "crnn.py", "ssd.py", "towers.py", "translation.py")
QUICK = [name for name in NAMES if name not in SLOW]
pytestmark = [pytest.mark.process, pytest.mark.timeout(400)]


def run_all(programs, folder, *options, names=NAMES):
    words = [str(word) for name in names for word in (programs / name, folder / name)]
    command = [sys.executable, DRIVER, *options, *words]
    result = forked.run(command, capture_output=True, text=True, timeout=380)
    assert result.returncode == 0, result.stderr[-3000:]
    return json.loads(result.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def quick_ones(tmp_path_factory):
    return run_all(PROGRAMS, tmp_path_factory.mktemp("quick"), names=QUICK)


@pytest.fixture(scope="module")
def slow_ones(tmp_path_factory):
    return run_all(PROGRAMS, tmp_path_factory.mktemp("slow"), names=SLOW)


@pytest.fixture(scope="module")
def converted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("converted")
    assert convert.main([str(PROGRAMS), "--output", str(folder / "programs")]) == 0
    return run_all(folder / "programs", folder, "--plain")


def numbers(lines):
    """Word -> the number after it; of `loss A to B`, `loss` and `to`."""
    found = re.findall(r"([a-z]+) (\d+\.?\d*)", "\n".join(lines))
    return {word: float(number) for word, number in found}


def check_bert(lines):
    assert lines[0] == "batch size 16"
    assert lines[1] == "restored 22"
    values = numbers(lines)
    assert values["accuracy"] >= 0.9
    assert (values["of"], values["step"]) == (64, 20)


def check_translation(lines):
    values = numbers(lines)
    assert values["to"] < 0.6 * values["loss"]
    assert min(values["greedy"], values["beam"]) > 0.5


def check_loss(lines):
    values = numbers(lines)
    assert values["to"] < 0.7 * values["loss"]


def check_tagger(lines):
    check_loss(lines)
    assert numbers(lines)["accuracy"] > 0.8


def check_queues(lines):
    assert lines[0] == "Done training for 3 epochs, 30 steps."
    values = numbers(lines[1:])
    assert values["to"] < values["loss"]


def check_towers(lines):
    values = numbers(lines)
    assert values["step"] == 40
    assert values["accuracy"] == values["right"] > 0.9


def check_columns(lines):
    assert [line.split()[0] for line in lines[::2]] == ["deep", "wide_deep"]
    for line in lines[::2]:
        assert numbers([line])["step"] == 50
        assert numbers([line])["auc"] > 0.8


def check_ssd(lines):
    assert lines[0].startswith("clones 2 devices ['/device:CPU:0', '/device:CPU:0']")
    check_loss(lines)


CHECKS = {
    "bert_classifier.py": check_bert,
    "crf_tagger.py": check_tagger,
    "crnn.py": check_loss,
    "queues.py": check_queues,
    "ssd.py": check_ssd,
    "towers.py": check_towers,
    "translation.py": check_translation,
    "wide_and_deep.py": check_columns,
}


def test_every_program_is_checked():
    assert sorted(CHECKS) == NAMES


@pytest.mark.parametrize("name", QUICK)
def test_it_runs_as_it_is(name, quick_ones):
    CHECKS[name](quick_ones[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_a_longer_one_runs_as_it_is(name, slow_ones):
    CHECKS[name](slow_ones[name])


@pytest.mark.slow
def test_they_run_with_resource_variables(tmp_path):
    for name, lines in run_all(PROGRAMS, tmp_path, "--resource_variables").items():
        CHECKS[name](lines)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_it_runs_converted(name, converted):
    CHECKS[name](converted[name])
