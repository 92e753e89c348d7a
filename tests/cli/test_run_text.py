import types

import pytest

from tf_frame import InputInfo
from tf_frame.cli import run_text
from tf_frame.cli.run_text import changed_options, weights_note
from tf_frame.config.yaml_file import Named, Settings
from tf_frame.plugin import Mode

BEFORE = Settings(
    plugin="toy",
    input="toy",
    optimizer="adam",
    schedule="fixed",
    transforms=(Named("clip", {"norm": 1.0, "axes": [1, 2]}),),
    hooks=(),
    values={
        "model_dir": "a",
        "task": 0,
        "learning_rate": 0.1,
        "strict": False,
        "trainable_scopes": [],
        "optimizer.beta1": 0.9,
    },
)


def changed(**more):
    values = {**BEFORE.values, **more.pop("values", {})}
    settings = {name: getattr(BEFORE, name) for name in ("plugin", "input", "optimizer")}
    lists = {"schedule": "fixed", "transforms": BEFORE.transforms, "hooks": ()}
    return changed_options(BEFORE, Settings(**{**settings, **lists, **more}, values=values))


def test_equal_options_and_those_of_a_process_are_no_change():
    assert changed() == []
    clip = Named("clip", {"norm": 1.0, "axes": (1, 2)})
    assert changed(transforms=(clip,), values={"trainable_scopes": ()}) == []
    assert changed(values={"model_dir": "b", "task": 3, "new_option": 7}) == []


def test_each_option_that_differs_has_a_line():
    values = {"learning_rate": 0.9, "strict": True, "trainable_scopes": ("a", "b")}
    assert changed(values={**values, "optimizer.beta1": 0.5}) == [
        "learning_rate 0.9, was 0.1",
        "strict true, was false",
        "trainable_scopes a,b, was empty",
        "optimizer.beta1 0.5, was 0.9",
    ]


def test_of_another_plugin_only_the_name_is_told():
    options = {"optimizer.beta1": 0.5, "optimizer.epsilon": 1}
    assert changed(optimizer="lamb", values=options) == ["optimizer lamb, was adam"]


def test_transforms_and_hooks_are_compared():
    clip = Named("clip", {"norm": 2.0, "axes": [1, 2]})
    assert changed(transforms=(clip,), hooks=(Named("heartbeat"),)) == [
        "transform.clip.norm 2, was 1",
        "hooks heartbeat, was empty",
    ]
    assert changed(transforms=()) == ["transforms empty, was clip"]


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
        run_text, "fitting_weights", lambda *names: ["_".join([*names, end]) for end in "abcd"]
    )
    if not is_new:
        (tmp_path / "checkpoint").touch()
    setup = types.SimpleNamespace(
        config=types.SimpleNamespace(warm_start_from=warm_start),
        model=types.SimpleNamespace(
            name="m",
            plugin=types.SimpleNamespace(cls=types.SimpleNamespace(network_option="backbone")),
            values=lambda: {"backbone": "n"},
        ),
        model_dir=str(tmp_path),
    )
    info = InputInfo(num_examples={} if count is None else {Mode.TRAIN: count})
    expected = (
        "note: this run begins with random values and has 120 examples; published weights learn "
        "from few: --warm_start_from m_n_a or m_n_b or m_n_c (auto takes the first)"
    )
    assert weights_note(setup, info) == [expected] * has_note
    monkeypatch.setattr(run_text, "fitting_weights", lambda *_: [])
    assert not weights_note(setup, info)


def test_a_slow_input_is_named_at_the_end_with_the_command_that_says_why():
    setup = types.SimpleNamespace(model_dir="runs/my run")
    result = {"metrics": {}, "duration_secs": 3, "steps_per_sec": 5.0, "input_share": 0.43}
    line, done = run_text.closing(setup, result).splitlines()
    assert line == (
        "the steps waited for input 43 % of the time; "
        "tf-frame profile --config 'runs/my run/config.yaml' --steps 30 says why"
    )
    assert done.startswith("done in 3 s")
    # Not where a step only hands over to another thread and back, nor for a profile.
    for share, rate in [(0.19, 5.0), (0.43, 2000.0), (None, None)]:
        quick = {**result, "input_share": share, "steps_per_sec": rate}
        assert len(run_text.closing(setup, quick).splitlines()) == 1
    assert len(run_text.closing(setup, result, keeps_folder=False).splitlines()) == 1
