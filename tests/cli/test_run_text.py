from tf_frame.cli.run_text import changed_options
from tf_frame.config.yaml_file import Named, Settings

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
