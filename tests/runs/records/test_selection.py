import pytest

from tf_frame.errors import ConfigError
from tf_frame.runs.records.selection import parse_selection

ROW = {"learning_rate": "0.02", "plugin": "deeplab", "step": "90", "state": "stopped by SIGTERM"}


@pytest.mark.parametrize(
    ("text", "fulfilled"),
    [
        ("learning_rate>0.01", True),
        ("learning_rate=2e-2 and step>=90", True),
        ("step<9", False),
        ("step<100.5", True),
        ("plugin=deeplab or step=1", True),
        ("plugin=x or step=1 and plugin=deeplab", False),
        ("(plugin=x or step=90) and not plugin!=deeplab", True),
        ("not (plugin=x)", True),
        ('state="stopped by SIGTERM"', True),
        ("state~SIGTERM", True),
        ("state~SIGINT", False),
        ("none=3", False),
        ("none!=3", True),
        ("none<3", False),
        ('none=""', True),
        ("model.depth != 4", True),
    ],
)
def test_conditions(text, fulfilled):
    assert parse_selection(text)(lambda column: ROW.get(column, "")) is fulfilled


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "a word is missing at its end"),
        ("step", "a word is missing at its end"),
        ("step>", "a word is missing at its end"),
        ("step 3 4", "a comparison such as learning_rate>0.1 is missing"),
        ("step=3 plugin=x", "it goes on after its end"),
        ("(step=3", r"\) is missing"),
        ("step=3)", "it goes on after its end"),
        ("__import__('os')", "is missing"),
        ("(" * 5000 + "a=1", "too many parentheses"),
        ("not " * 100 + "a=1", "too many parentheses"),
    ],
)
def test_other_texts_are_refused_with_an_example(text, reason):
    with pytest.raises(ConfigError, match=reason) as error:
        parse_selection(text)
    assert "for example" in str(error.value)
