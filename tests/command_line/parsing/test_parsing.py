import pytest
import yaml

from source_plugins import install_source
from tf_frame.command_line.parsing import parse_command_line
from tf_frame.errors import ConfigError, PluginError
from tf_frame.testing.distributions import write_distribution

PLUGINS = """
import dataclasses
from tf_frame import GradientTransform, Model, option
from tf_frame.testing.toy import ToyModel


class Eager(ToyModel):
    run_defaults = {"max_steps": 77, "save_checkpoint_steps": 9, "learning_rate": 0.5}
    default_transforms = ("scale",)


class Tuned(ToyModel):
    run_defaults = {"optimizer": "adam", "optimizer.beta1": 0.8, "schedule": "poly"}


class Scaled(Eager):
    run_defaults = {"transforms": ["scale:3", "scale:4"], "input": "toy"}


class Profiled(ToyModel):
    run_defaults = {"profile_at_step": (3, 200)}


class Mistaken(ToyModel):
    run_defaults = {"max_step": 77}


class Bare(Model):
    def build(self, features, labels, mode): ...


class Scale(GradientTransform):
    @dataclasses.dataclass(frozen=True)
    class Params:
        factor: float = option(2.0, "factor on every gradient")

    def __call__(self, grads_and_vars):
        return [(gradient * self.params.factor, v) for gradient, v in grads_and_vars]


class Plain(GradientTransform):
    def __call__(self, grads_and_vars):
        return grads_and_vars
"""


@pytest.fixture(autouse=True)
def installed(tmp_path, monkeypatch):
    """The plugins toy, eager ... and plain; the tests run in a fresh folder."""
    classes = {
        "models": "Eager Scaled Tuned Profiled Mistaken Bare",
        "gradient_transforms": "Scale Plain",
    }
    install_source(monkeypatch, tmp_path, "choose-test", PLUGINS, **classes)


def make_setup(*argv):
    return parse_command_line(argv).setup()


def write_config(path, content):
    path.write_text(yaml.safe_dump(content))
    return str(path)


def test_the_model_brings_its_defaults():
    setup = make_setup("--plugin", "eager")
    assert (setup.config.max_steps, setup.config.learning_rate) == (77, 0.5)
    assert (setup.config.save_checkpoint_steps, setup.config.save_checkpoint_secs) == (9, None)
    assert setup.input.name == "toy"
    assert [part.name for part in setup.transforms] == ["scale"]
    # A flag for one way to save unsets the other.
    setup = make_setup("--plugin", "eager", "--save_checkpoint_secs", "30")
    assert (setup.config.save_checkpoint_steps, setup.config.save_checkpoint_secs) == (None, 30)


def test_transforms_among_the_defaults_of_a_run_win():
    setup = make_setup("--plugin", "scaled")
    assert [part.params.factor for part in setup.transforms] == [3.0, 4.0]
    assert [
        part.name for part in make_setup("--plugin", "scaled", "--transform", "scale").transforms
    ]


def test_profiles_that_a_model_asks_for_are_those_that_a_run_reaches():
    def profiled(*flags):
        return make_setup("--plugin", "profiled", *flags).config.profile_at_step

    assert profiled("--max_steps", "200") == (3, 200)
    assert profiled("--max_steps", "199") == (3,)
    # One that is asked for stays, and is refused later.
    assert profiled("--max_steps", "199", "--profile_at_step", "200") == (200,)


def test_a_shorter_run_of_a_file_leaves_out_the_profiles_that_it_does_not_reach(tmp_path):
    values = {"plugin": "toy", "max_steps": 400, "profile_at_step": [3, 200]}
    file = write_config(tmp_path / "c.yaml", values)
    shorter = make_setup("--config", file, "--max_steps", "180")
    assert shorter.config.profile_at_step == (3,)
    # A file that contradicts itself is refused later.
    file = write_config(tmp_path / "c.yaml", {**values, "max_steps": 180})
    assert make_setup("--config", file).config.profile_at_step == (3, 200)


def test_the_file_wins_over_the_model_and_the_flags_over_the_file(tmp_path):
    file = write_config(
        tmp_path / "c.yaml",
        {
            "plugin": "eager",
            "max_steps": 50,
            "learning_rate": 0.25,
            "model": {"l2": 0.5},
            "transforms": [{"name": "scale", "factor": 7}],
        },
    )
    setup = make_setup("--config", file, "--max_steps", "40", "--model.l2=0.75")
    assert (setup.config.max_steps, setup.config.learning_rate) == (40, 0.25)
    assert (setup.model.params.l2, setup.transforms[0].params.factor) == (0.75, 7.0)


def test_optimizer_and_schedule_are_the_models_unless_named():
    setup = make_setup("--plugin", "tuned")
    assert (setup.optimizer.name, setup.optimizer.params.beta1) == ("adam", 0.8)
    assert setup.schedule.name == "poly"
    setup = make_setup("--plugin", "tuned", "--optimizer", "sgd", "--schedule=fixed")
    assert (setup.optimizer.name, setup.schedule.name) == ("sgd", "fixed")
    setup = make_setup("--plugin", "toy")
    assert (setup.optimizer.name, setup.schedule.name) == ("momentum", "fixed")


def test_options_of_optimizer_and_schedule_come_from_flags_and_files(tmp_path):
    content = {"plugin": "toy", "optimizer": {"name": "adam", "beta1": 0.7}, "schedule": "poly"}
    file = write_config(tmp_path / "c.yaml", content)
    setup = make_setup("--config", file, "--schedule.power", "2")
    assert (setup.optimizer.params.beta1, setup.schedule.params.power) == (0.7, 2.0)
    setup = make_setup("--config", file, "--optimizer", "momentum")
    assert setup.optimizer.name == "momentum"


def test_a_folder_without_a_plugin_named_uses_its_own_configuration(tmp_path):
    write_config(tmp_path / "config.yaml", {"plugin": "eager", "max_steps": 5, "model_dir": "x"})
    setup = make_setup("--model_dir", str(tmp_path))
    assert (setup.model.name, setup.model_dir) == ("eager", str(tmp_path))
    assert setup.config.max_steps == 5
    named = make_setup("--model_dir", str(tmp_path), "--plugin", "eager")
    assert named.config.max_steps == 77


def test_the_default_folder_is_known_as_such_and_a_tilde_means_the_home_folder(monkeypatch):
    monkeypatch.setenv("HOME", "/home/somebody")
    named = make_setup("--plugin", "toy", "--model_dir", "~/x")
    default = make_setup("--plugin", "toy")
    assert (named.model_dir, named.is_default_dir) == ("/home/somebody/x", False)
    assert default.model_dir.startswith("runs/toy-") and default.is_default_dir


def test_what_is_written_reads_back_the_same(tmp_path):
    from tf_frame.config.yaml_file import to_yaml

    where = ("--model_dir", "here")
    words = ("--plugin", "eager", "--model.l2", "0.5", "--model.nan_at_step", "none")
    setup = make_setup(*words, *where)
    (tmp_path / "again.yaml").write_text(to_yaml(setup.settings(), "header"))
    again = make_setup("--config", str(tmp_path / "again.yaml"), *where)
    assert again == setup
    assert setup.versions()["choose-test"] == "3.2"


def test_the_input_of_the_models_own_package_goes_before_others(tmp_path, monkeypatch):
    twin = tmp_path / "twin"
    write_distribution(twin, "a-twin", {"tf_frame.inputs: toy": "tf_frame.testing.toy:ToyInput"})
    monkeypatch.syspath_prepend(str(twin))
    assert make_setup("--plugin", "toy").input.plugin.info.distribution == "tf-frame-toy"


def test_a_regular_expression_may_hold_commas():
    (part,) = make_setup("--plugin", "toy", "--transform", "freeze:a{1,2}b").transforms
    assert part.params.patterns == ("a{1,2}b",)
    argv = ("--transform.freeze.patterns", "c,d", "--transform.freeze.patterns", "e")
    (part,) = make_setup("--plugin", "toy", "--transform", "freeze", *argv).transforms
    assert part.params.patterns == ("c,d", "e")


def test_built_in_parts_keep_their_names(tmp_path, monkeypatch):
    other = tmp_path / "other"
    write_distribution(other, "other", {"tf_frame.optimizers: momentum": "choose_test_plugins:No"})
    monkeypatch.syspath_prepend(str(other))
    assert make_setup("--plugin", "toy").optimizer.plugin.info.distribution == "tf-frame"
    with pytest.raises(PluginError, match="has no attribute 'No'"):
        make_setup("--plugin", "toy", "--optimizer", "other:momentum")


@pytest.mark.parametrize(
    ("model_dir", "reason"),
    [
        ("runs/frist", "runs/frist: there is no such folder; did you mean runs/first"),
        ("runs/empty", "runs/empty has no config.yaml, which tf-frame run writes when training"),
        ("runs/old", "runs/old/config.yaml names no plugin"),
        ("elsewhere/x", "elsewhere/x: there is no such folder"),
    ],
)
@pytest.mark.parametrize("more", [(), ("--model.l2", "0.5")])
def test_a_folder_without_a_run_is_said_to_be_one_and_the_plugin_is_asked_for(
    tmp_path, model_dir, reason, more
):
    for name in ("first", "empty", "old"):
        (tmp_path / "runs" / name).mkdir(parents=True)
    write_config(tmp_path / "runs" / "first" / "config.yaml", {"plugin": "toy"})
    write_config(tmp_path / "runs" / "old" / "config.yaml", {"max_steps": 3})
    with pytest.raises(ConfigError) as error:
        make_setup("--model_dir", model_dir, *more)
    text = str(error.value)
    assert text.startswith(reason)
    assert "o begin a new run there, say which model to train: --plugin NAME (inst" in text
    assert ("did you mean" in text) == ("frist" in model_dir)


def test_of_several_files_the_later_one_wins(tmp_path):
    first = {"plugin": "eager", "max_steps": 50, "model": {"l2": 0.5}, "input": {"num_examples": 9}}
    second = {"max_steps": 60, "transforms": ["plain"], "model": {"l2": 0.25}}
    files = [
        *("--config", write_config(tmp_path / "first.yaml", first)),
        *("--config", write_config(tmp_path / "second.yaml", second)),
    ]
    setup = make_setup(*files, "--model.l2", "0.75")
    assert (setup.config.max_steps, setup.model.params.l2) == (60, 0.75)
    assert (setup.input.params.num_examples, setup.transforms[0].name) == (9, "plain")
    assert make_setup(*files[2:], *files[:2]).config.max_steps == 50


def test_a_mistake_in_one_of_several_files_names_it(tmp_path):
    good = write_config(tmp_path / "good.yaml", {"plugin": "toy", "max_steps": 50})
    bad = write_config(tmp_path / "bad.yaml", {"max_step": 60})
    with pytest.raises(ConfigError, match=r"bad.yaml: unknown option max_step; did you mean max_s"):
        make_setup("--config", good, "--config", bad)


def test_set_takes_any_key_of_a_file_and_options_win_over_it(tmp_path):
    file = write_config(
        tmp_path / "c.yaml",
        {"plugin": "eager", "max_steps": 5, "transforms": [{"name": "scale", "factor": 7}]},
    )
    assigned = {
        "max_steps": "40",
        "optimizer.name": "adam",
        "optimizer.beta1": "0.7",
        "transform.scale.factor": "3",
        "save_checkpoint_steps": "none",
        "save_checkpoint_secs": "30",
        "trainable_scopes": "[a, b]",
        "model.l2": "0.5",
    }
    words = [word for key, value in assigned.items() for word in ("--set", f"{key}={value}")]
    setup = make_setup("--config", file, *words, "--model.l2", "0.75")
    assert (setup.config.max_steps, setup.model.params.l2) == (40, 0.75)
    assert (setup.optimizer.name, setup.optimizer.params.beta1) == ("adam", 0.7)
    assert setup.transforms[0].params.factor == 3.0
    assert setup.config.trainable_scopes == ("a", "b")
    assert (setup.config.save_checkpoint_steps, setup.config.save_checkpoint_secs) == (None, 30)


def test_set_may_name_the_model_and_the_folder():
    setup = make_setup("--set", "plugin=tuned", "--set", "model_dir=runs/here", "--input", "toy")
    assert (setup.model.name, setup.model_dir, setup.input.name) == ("tuned", "runs/here", "toy")


@pytest.mark.parametrize(
    ("words", "factors"),
    [
        ("toy --transform scale --transform.scale.factor 3", [3]),
        ("eager --transform=", []),
        ("toy --transform scale:3 --transform=", []),
        ("eager --transform= --transform scale:3", [3]),
        ("toy --transform scale:3 --transform choose-test:scale:4", [3, 4]),
        ("toy --transform scale --transform scale:5 --transform.scale.factor 3", [3, 5]),
        (
            "toy --transform scale --transform scale:5 --transform.scale.factor 3 "
            "--transform.scale_2.factor 6",
            [3, 6],
        ),
    ],
)
def test_transforms_of_the_command_line(words, factors):
    transforms = make_setup("--plugin", *words.split()).transforms
    assert [part.params.factor for part in transforms] == factors
    assert all(part.name in ("scale", "choose-test:scale") for part in transforms)


def test_a_file_and_what_the_command_line_leaves_of_it(tmp_path):
    content = {"plugin": "eager", "model": {"l2": 0.5}, "input": {"name": "toy", "num_examples": 5}}
    content["transforms"] = ["scale:3", {"name": "scale", "factor": 4}]
    file = write_config(tmp_path / "c.yaml", content)
    assert [part.params.factor for part in make_setup("--config", file).transforms] == [3.0, 4.0]
    assert make_setup("--config", file, "--transform", "").transforms == []
    # Options of a plugin that is replaced are dropped.
    setup = make_setup("--config", file, "--plugin", "toy")
    assert (setup.model.params.l2, setup.input.params.num_examples) == (0.0, 5)


def test_without_a_model_no_plugin_is_chosen_and_without_an_input_it_is_asked_for():
    assert parse_command_line(["--max_steps", "3"]).chosen is None
    assert make_setup("--plugin", "bare", "--input", "toy").input.name == "toy"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("toy --transform scale:3,4", "--transform.scale.factor: '3,4' is not a number"),
        ("toy --transform plain:3", "plain has no options; leave out :3"),
        ("toy --transform scal:3", "no gradient transform plugin is called 'scal'.*'scale'"),
        ("toy --optimizer no", "is called 'no'; installed: .*sgd"),
        ("toy --schedule no", "is called 'no'; installed: .*poly"),
        ("toy --input toi", "no input plugin is called 'toi'; did you mean 'toy'"),
        ("mistaken", "run_defaults of the model mistaken.*max_steps"),
        ("bare", "'bare' has no input of its own; name one with --input"),
        ("toy --transform.scale.factor 3", "unknown option --transform.scale.factor"),
        ("toy --transform.scale.factor 3", "scale is not in use; give --transform scale"),
        (
            "toy --transform plain --transform.plain.factor 3",
            "factor belongs to scale, scale_biases; the transform is plain",
        ),
        ("toy --optimizer sgd --optimizer.speed 0.4", "; optimizer takes no options, or is not in"),
        ("toy --transform.nosy.gamma 0.6", "; transform.nosy takes no options, or is not in use"),
        ("toy --set max_steps", "--set max_steps: expected KEY=VALUE, such as optimizer.momentum"),
        ("toy --set =5", "expected KEY=VALUE"),
        ("toy --set max_step=5", "unknown option max_step; did you mean max_steps"),
        ("toy --set optimizer.momentm=0.5", "option optimizer.momentm; did you mean optimizer.mo"),
        ("toy --set max_steps=many", "--max_steps: 'many' is not a whole number"),
        ("toy --set optimizer=adm", "did you mean 'adam'"),
        ("toy --set trainable_scopes=[a", r"--set ...=\[a: the list is not YAML"),
        (
            "toy --set profile_at_step=[1,010]",
            r"--set ...=\[1,010\], line 1: YAML takes 010 for 8;",
        ),
        ("toy --set transforms=scale", "'transforms' takes a list"),
    ],
)
def test_wrong_words_are_refused_in_a_line(words, message):
    with pytest.raises((ConfigError, PluginError), match=message) as raised:
        make_setup("--plugin", *words.split())
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"verbosity": ["info"]}, "--verbosity: .*not a text"),
        ({"model_dir": ["a"]}, "--model_dir: .*not a text"),
        ({"versions": "abc"}, "'versions' takes 'name: value' lines"),
        ({"transform": "scale"}, "unknown option transform; write a list, transforms:"),
        ({"help": True}, "^c.yaml: unknown option help"),
        ({"config": "x"}, "unknown option config"),
        ({"model": 0}, "'model' takes 'name: value' lines"),
        ({"model": {"l3": 1}}, r"unknown option model\.l3; did you mean model\.l2\?"),
        (
            {"transforms": [{"name": "scale", "facto": 4}]},
            "transform.scale.facto; did you mean .*factor",
        ),
        (
            {"optimizer": {"name": "momentum", "beta1": 0.8}},
            "unknown option optimizer.beta1; beta1 belongs to adam, adamw, lamb; the optimizer is",
        ),
    ],
)
def test_a_wrong_file_is_refused(tmp_path, content, message):
    write_config(tmp_path / "c.yaml", {"plugin": "toy", **content})
    with pytest.raises(ConfigError, match=message):
        make_setup("--config", "c.yaml")
