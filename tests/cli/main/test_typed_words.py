"""Commands that people type, and that are answered with the right one."""

import pytest


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["train", "--plugin", "deeplab"], "no command train; it is tf-frame run --plugin NAME"),
        (["train", "deeplab"], "no command train; it is tf-frame run --plugin deeplab\n"),
        (["eval"], "no command eval; it is tf-frame evaluate MODEL_DIR\n"),
        (["eval", "runs/first"], "no command eval; it is tf-frame evaluate runs/first\n"),
        (["infer", __file__], "it is tf-frame predict MODEL_DIR --input FILE"),
        (["infer"], "it is tf-frame predict MODEL_DIR --input FILE"),
        (["resume", "runs/first"], "it is tf-frame run --model_dir runs/first"),
        (
            ["run", "--plugin", "mobilenet_v2"],
            "there is the network mobilenet_v2: tf-frame run --plugin classification --model.name "
            "mobilenet_v2",
        ),
        (["run", "--plugin", "classification", "--input", "adam"], "the optimizer adam: --optim"),
        (["run", "mobilenet_v1_imagenet"], "the weights mobilenet_v1_imagenet: --warm_start_from"),
        (["profile", "deeplab", "--max_steps", "3"], "--max_steps"),
        (["profile", "runs/first"], "tf-frame profile show runs/first prints its profile, tf-fra"),
        (["predict", "photo.jpg"], "photo.jpg does not exist, and the folder of a run comes first"),
        (["predict", "runs/v1.0"], "runs/v1.0: there is no such folder"),
        (["run", "deeplab", "--lr", "1"], "unknown option --lr; did you mean --learning_rate?"),
        (["run", "runs/nothing"], "runs/nothing: there is no such folder"),
    ],
)
def test_words_of_other_programs_and_of_other_kinds(tf_frame, words, answer):
    code, _, err = tf_frame(*words)
    assert code == 2 and answer in err


def test_a_model_and_a_folder_need_no_option(tf_frame, tmp_path, monkeypatch):
    code, out, _ = tf_frame("run", "deeplab", "--print_config")
    assert code == 0 and "plugin: deeplab" in out
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deeplab").mkdir()  # The name of a model comes first.
    assert tf_frame("run", "deeplab", "--print_config")[0] == 0
    (tmp_path / "config.yaml").write_text("plugin: deeplab\nmax_steps: 7\n")
    for folder in (str(tmp_path), "./"):
        code, out, _ = tf_frame("run", folder, "--print_config")
        assert code == 0 and "max_steps: 7" in out


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        (
            "predict",
            "tf-frame predict MODEL_DIR --input photo.jpg; or, without a",
        ),
        ("evaluate", "tf-frame evaluate MODEL_DIR --checkpoint photo.jpg"),
        ("export", "tf-frame export MODEL_DIR --checkpoint photo.jpg"),
    ],
)
def test_a_file_is_no_folder_of_a_run(tf_frame, tmp_path, monkeypatch, command, answer):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "photo.jpg").touch()
    code, _, err = tf_frame(command, "photo.jpg")
    assert code == 2 and answer in err


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", '[project.entry-points."tf_frame.models"]\nmy_shapes = "a:B"\n'),
        ("setup.py", 'entry_points={"tf_frame.models": ["my_shapes = a:B"]}'),
        ("setup.cfg", "[options.entry_points]\ntf_frame.models =\n  my_shapes = a:B\n"),
    ],
)
@pytest.mark.parametrize("folder", [".", "my-shapes"])
def test_a_plugin_that_is_not_installed_yet(tf_frame, tmp_path, monkeypatch, name, text, folder):
    monkeypatch.chdir(tmp_path)
    (tmp_path / folder).mkdir(exist_ok=True)
    (tmp_path / folder / name).write_text(text)
    commands = ("plugins why", "plugins check", "plugins show", "run --model_dir r --plugin")
    for command in commands:
        code, *streams = tf_frame(*command.split(), "my_shapes")
        answer = f"not installed yet: pip install -e {folder}"
        assert code == 2 and answer in "".join(streams).splitlines()[0], command
    assert "not installed yet" not in tf_frame("plugins", "why", "my_shape")[1]


def test_the_name_of_a_package_that_is_not_installed_yet(tf_frame, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (
        '[project]\nname = "My-Shapes"\n[project.entry-points."tf_frame.models"]\nshapes = "a:B"\n'
    )
    (tmp_path / "pyproject.toml").write_text(text)
    assert "not installed yet: pip install -e ." in tf_frame("plugins", "why", "my-shapes")[1]
    assert "not installed yet" not in tf_frame("plugins", "why", "my-shap")[1]
