"""Hints at the end of a run, and their commands."""

import dataclasses
import types

import pytest

from tf_frame import InputInfo, Mode
from tf_frame.cli import run_hints
from tf_frame.cli.run_hints import hints, steps_note, warmup_note, weights_note
from tf_frame.cli.run_text import closing

QUICK = {"metrics": {}, "duration_secs": 3, "steps_per_sec": 5.0, "input_share": 0.1}
QUICK |= {"gflops_per_sec": 12.3, "peak_gflops": 100.0}
NOTHING = {**QUICK, "at_chance": {}}


@dataclasses.dataclass(frozen=True)
class InputParams:
    data_dir: str = ""
    image_size: int = 0
    shuffle: bool = True


MODEL = types.SimpleNamespace(
    name="m",
    plugin=types.SimpleNamespace(
        cls=types.SimpleNamespace(
            network_option="backbone", input_defaults=lambda params: {"image_size": params}
        )
    ),
    params=224,
    values=lambda: {"backbone": "n"},
)


def make_setup(schedule=(), **options):
    defaults = {"warm_start_from": "", "overfit_batches": 0, "max_steps": 80, "learning_rate": 0.01}
    defaults |= {"train_batch_size": 4, "warmup_steps": 0}
    return types.SimpleNamespace(
        config=types.SimpleNamespace(**{**defaults, **options}),
        model=MODEL,
        input=types.SimpleNamespace(name="i", params=InputParams("my photos", 224)),
        schedule=types.SimpleNamespace(params=types.SimpleNamespace(**dict(schedule))),
        model_dir="runs/my run",
    )


@pytest.mark.parametrize(
    ("option", "steps", "is_noted"),
    [("warmup_steps", 79, False), ("warmup_steps", 80, True), ("schedule", 100, True)],
)
def test_a_warm_up_as_long_as_the_run_is_noted(option, steps, is_noted):
    schedule = {"warmup_steps": steps} if option == "schedule" else {}
    setup = make_setup(schedule, warmup_steps=0 if schedule else steps)
    name = "--schedule.warmup_steps" if schedule else "--warmup_steps"
    note = (
        f"note: {name} {steps} is not below --max_steps 80: the warm-up lasts for the whole run, "
        "which never trains with --learning_rate 0.01"
    )
    assert warmup_note(setup) == ([note] if is_noted else [])


@pytest.mark.parametrize(
    ("examples", "max_steps", "few"),
    [
        (36, 200_000, 50),
        (36, 750, 50),
        (36, 749, None),
        (100_000, 200_000, None),
        (None, 9**9, None),
    ],
)
def test_steps_that_are_made_for_more_data_are_noted(tmp_path, examples, max_steps, few):
    setup = make_setup(max_steps=max_steps)
    setup.examples_per_step, setup.model_dir = lambda: 24, str(tmp_path)
    info = InputInfo(num_examples={Mode.TRAIN: examples})
    notes = steps_note(setup, info, source="the preset p")
    assert len(notes) == (few is not None)
    if few:
        passes = f"{max_steps * 24 / 36:,.0f} passes over the 36 training examples"
        assert notes[0].startswith(f"note: {max_steps} steps of 24, the preset p, are {passes}")
        assert f"--max_steps {few}, 30 passes" in notes[0]
    (tmp_path / "checkpoint").touch()  # A run that is resumed.
    assert not steps_note(setup, info, source="")


def test_a_slow_input_is_named_with_the_command_that_says_why():
    result = {**NOTHING, "input_share": 0.43}
    line, done = closing(make_setup(), result).splitlines()
    assert line == (
        "hint: the steps waited for input 43 % of the time; "
        "tf-frame profile --config 'runs/my run/config.yaml' --steps 30 says why"
    )
    assert done.startswith("done in 3 s, 5.00 steps/s, 12.3 GFLOP/s (12 % of the peak); ")
    assert len(closing(make_setup(), result, keeps_folder=False).splitlines()) == 1


# Not where a step only hands over to another thread and back.
@pytest.mark.parametrize(("share", "rate"), [(0.19, 5.0), (0.43, 2000.0), (None, None)])
def test_a_quick_input_is_not_named(share, rate):
    assert hints(make_setup(), {**NOTHING, "input_share": share, "steps_per_sec": rate}) == []


@pytest.mark.parametrize(
    ("losses", "is_told"),
    [
        ([0.4, 0.2, 0.31], True),
        ([0.4, 0.2, 0.3], False),
        ([0.2, 0.4, 0.1], False),
        ([0.2], False),
        ([], False),
        ([-0.2, 0.4], False),
    ],
)
def test_an_evaluation_whose_loss_rises_is_told_with_the_command_that_keeps_the_best(
    tmp_path, losses, is_told
):
    rows = [f"{10 * k},eval,{loss}\n" for k, loss in enumerate(losses, start=1)]
    # Other losses, of log intervals.
    rows += [f"{k},train,0.001\n" for k in (5, 95)]
    (tmp_path / "metrics.csv").write_text("".join(["step,split,loss\n", *rows]))
    setup = make_setup()
    setup.model_dir = str(tmp_path)
    texts = hints(setup, NOTHING)
    assert len(texts) == is_told
    if is_told:
        reason, command = texts[0].splitlines()
        assert reason.startswith(
            "hint: the evaluation's loss rose from 0.2000 at step 20 to 0.3100; the network learns "
            "the training examples by heart."
        )
        assert command == (
            f"    tf-frame run --config {tmp_path}/config.yaml --keep_best 1 --best_metric loss "
            "--eval_every_n_steps 8"
        )


def remedies(monkeypatch, *setup, weights=("m_a", "m_b"), network="n", **options):
    monkeypatch.setattr(run_hints, "fitting_weights", lambda *names: list(weights))
    of_network = types.SimpleNamespace(network=network)
    monkeypatch.setattr(run_hints, "load_weights", lambda name: of_network)
    metrics, at_chance = {"accuracy": 0.11, "top_5": 0.5}, {"accuracy": 0.1}
    result = {**NOTHING, "metrics": metrics, "at_chance": at_chance}
    (text,) = hints(make_setup(*setup, **options), result)
    reason, *lines = text.splitlines()
    assert reason == (
        "hint: accuracy 0.1100 is hardly above 0.1000, which needs no learning; try, in this order:"
    )
    pairs = zip(lines[::2], lines[1::2], strict=True)
    return [f"{name.strip()} {command.strip()}" for name, command in pairs]


def test_a_model_at_the_level_of_chance_gets_remedies_in_order(monkeypatch):
    config = "tf-frame run --config 'runs/my run/config.yaml'"
    of_all = [
        f"published weights: {config} --warm_start_from m_a",
        "more steps: tf-frame run --model_dir 'runs/my run' --max_steps 320",
        f"a lower learning rate: {config} --learning_rate 0.001",
    ]
    assert remedies(monkeypatch) == of_all
    assert remedies(monkeypatch, warm_start_from="m_b") == of_all[1:]
    assert remedies(monkeypatch, overfit_batches=2) == of_all[1:]
    assert remedies(monkeypatch, weights=()) == of_all[1:]
    other = remedies(monkeypatch, network="another")
    command = (
        "tf-frame run --plugin m --input i --max_steps 80 --train_batch_size 4 "
        "--input.data_dir 'my photos' --warm_start_from m_a"
    )
    assert other == [f"published weights: {command}", *of_all[1:]]
    with_rates = remedies(monkeypatch, {"learning_rates": (0.1, 0.01)}, weights=())
    assert with_rates == ["more steps: tf-frame run --model_dir 'runs/my run' --max_steps 320"]
    # The run has not reached the learning rate that it was given.
    assert remedies(monkeypatch, weights=(), warmup_steps=80) == with_rates


def test_a_short_run_is_to_take_the_usual_steps_first(monkeypatch):
    monkeypatch.setattr(MODEL.plugin.cls, "run_defaults", {"max_steps": 1500}, raising=False)
    first, *_ = remedies(monkeypatch, max_steps=20)
    assert first == "more steps: tf-frame run --model_dir 'runs/my run' --max_steps 1500"


@pytest.mark.parametrize(
    ("count", "warm_start", "is_new", "has_note"),
    [
        (120, "", True, True),
        (120, "some", True, False),
        (120, "", False, False),
        (2000, "", True, False),
        (None, "", True, False),
    ],
)
def test_a_new_run_on_few_examples_names_weights(
    tmp_path, monkeypatch, count, warm_start, is_new, has_note
):
    monkeypatch.setattr(
        run_hints, "fitting_weights", lambda *names: ["_".join([*names, end]) for end in "abcd"]
    )
    if not is_new:
        (tmp_path / "checkpoint").touch()
    setup = types.SimpleNamespace(
        config=types.SimpleNamespace(warm_start_from=warm_start),
        model=MODEL,
        model_dir=str(tmp_path),
    )
    info = InputInfo(num_examples={} if count is None else {Mode.TRAIN: count})
    expected = (
        "note: this run begins with random values and has 120 examples; published weights learn "
        "from few: --warm_start_from m_n_a or m_n_b or m_n_c, with the network o"
    )
    monkeypatch.setattr(run_hints, "load_weights", lambda name: types.SimpleNamespace(network="o"))
    assert weights_note(setup, info) == [expected] * has_note
    monkeypatch.setattr(run_hints, "fitting_weights", lambda *_: [])
    assert not weights_note(setup, info)
