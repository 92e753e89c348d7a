import pytest

from tf_frame.command_line.folder_command import folder_command
from tf_frame.config.option import Option
from tf_frame.errors import ConfigError

OPTIONS = (Option("keep", int, 3, "how many stay"),)


@pytest.fixture
def run():
    """Runs a command; returns its exit code, and the arguments of its function."""

    def run(*words, **options):
        received = []
        texts = {"name": "tf-frame word", "usage": "usage: word", "options": OPTIONS}
        main = folder_command(**texts, **options)(lambda *values: received.append(values) or 7)
        return main(words), received

    return run


def test_folders_and_all_options_are_given(run):
    assert run("a") == (7, [(["a"], {"keep": 3})])
    assert run("--keep", "5", "a", "b", count=None) == (7, [(["a", "b"], {"keep": 5})])


def test_help_is_asked_for_or_the_answer_to_nothing(run, capsys):
    assert run("a", "-h") == (0, []) and run() == (2, [])
    assert capsys.readouterr().out.count("usage: word\n\nOptions") == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("a", "b"), "tf-frame word takes one folder, MODEL_DIR; given: a b"),
        (("--keep", "5"), "takes one folder, MODEL_DIR; given: none"),
        (("a", "--kep", "5"), "kep"),
        (("a", "--keep", "many"), "'many' is not a whole number"),
    ],
)
def test_mistakes(run, words, message):
    with pytest.raises(ConfigError, match=message):
        run(*words)
