"""`tf-frame plugins new`, in this process."""

import pytest

from tf_frame.cli import plugins
from tf_frame.errors import ConfigError


def test_it_says_what_to_type_next(tmp_path, capsys):
    words = ["new", "my-plan", "--kind", "gradient_transform", "--directory", str(tmp_path)]
    assert plugins.main(words) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{tmp_path}/my-plan: a gradient transform, with tests. Next:",
        "",
        f"  cd {tmp_path}/my-plan",
        "  pip install -e '.[test]'",
        "  tf-frame run --plugin MODEL --transform my_plan  # MODEL: one that is installed",
        "  pytest",
        "  tf-frame plugins check my_plan",
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["my-plan", "--kind", "optimiser"], "--kind: 'optimiser' is not"),
        (["my-plan"], "needs --kind, one of model, input, gradient_transform, hook, comm"),
        (["--kind", "hook"], "takes one NAME; given: none"),
        (["my", "plan", "--kind", "hook"], "takes one NAME; given: my plan"),
        (["my-plan", "--knd", "hook"], "did you mean --kind?"),
        (["deeplab", "--kind", "hook"], "tf-frame-deeplab 0.1.0 has a model 'deeplab'"),
        (["heartbeat", "--kind", "hook"], "tf-frame 0.1.0 has a hook 'heartbeat'"),
    ],
)
def test_a_mistake_writes_nothing(words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError) as error:
        plugins.main(["new", *words])
    assert message in str(error.value) and "\n" not in str(error.value)
    assert not list(tmp_path.iterdir())
