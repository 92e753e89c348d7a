from documents.blocks import anchor
from documents.command import quick
from documents.output import commands, missing_lines

SHOWN = """$ tf-frame a \\
    --b
...
accuracy   0.90
done in 3 s ██
"""


def test_numbers_may_differ_by_a_share():
    printed = "accuracy 0.91\ndone in 30 s █\n"
    assert not missing_lines(SHOWN, printed, numbers=None)
    assert missing_lines(SHOWN, printed, numbers=0.05) == ["done in 3 s ██"]
    assert not missing_lines(SHOWN, printed, numbers=0.05, lines=["accuracy"])
    assert missing_lines(SHOWN, printed, numbers=0.001, lines=["accuracy"]) == ["accuracy   0.90"]


def test_other_words_are_missing():
    assert missing_lines("a 1\nb 2\n", "a 1\nc 2\n", numbers=None) == ["b 2"]


def test_commands_are_those_behind_a_dollar():
    assert commands(SHOWN) == "tf-frame a \\\n    --b"


def test_words_are_added_to_trainings_alone():
    added = {"run": "--max_steps 2", "tune": "--time 9"}
    assert quick(["run", "--plugin", "a"], added)[-2:] == ["--max_steps", "2"]
    assert quick(["launch", "--", "run", "a"], added)[-2:] == ["--max_steps", "2"]
    assert quick(["sweep", "--", "run"], {"sweep": "-s"}) == ["sweep", "-s", "--", "run"]
    assert quick(["tune"], added) == ["tune", "--time", "9"]
    for words in (["run", "--help"], ["runs"], ["profile", "show", "run"], []):
        assert quick(words, added) == words


def test_an_anchor_is_that_of_a_link():
    assert anchor("Fine-tuning: `--warm_start_from`") == "fine-tuning---warm_start_from"
