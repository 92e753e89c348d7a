"""The options of every run in the documents exist, as far as that is known without a training."""

import pytest
import yaml

from documents.blocks import blocks, documents
from documents.commands import commands, run_options
from documents.plan import needs, status
from tf_frame.command_line.parsing import parse_command_line

_OWN_PLUGINS = {"line", "my_model", "my_digits", "from_estimator", "from_slim", "from_keras"}
# Words that come from files of a reader, or end a command.
_NOT_HERE = ("large_loss", "gradient_norms", "my_hook", "...", "halving", "--help")


def runs():
    """Yields the block and the options of each run of a plugin that is installed."""
    for document in documents():
        for block in blocks(document):
            if block.language not in ("sh", ""):
                continue
            for words in commands(block):
                options = run_options(words)
                if options and "--plugin" in options and not unknown(options):
                    yield pytest.param(options, id=f"{document}:{block.line}")


def unknown(options):
    plugin = options[options.index("--plugin") + 1]
    return plugin in _OWN_PLUGINS or any(
        option.startswith(_NOT_HERE) or option == "--config" for option in options
    )


RUNS = list(runs())


@pytest.mark.parametrize("options", RUNS)
def test_the_options_of_a_run_exist(options):
    plugin = options[options.index("--plugin") + 1]
    assert parse_command_line(options).setup().model.name == plugin


@pytest.mark.parametrize(
    "block",
    [each for document in documents() for each in blocks(document) if status(each) == "read"],
    ids=str,
)
def test_yaml_is_read_by_its_reader(block, tmp_path):
    path = tmp_path / "file.yaml"
    path.write_text(block.text)
    if needs(block).shown:
        assert yaml.safe_load(block.text)
    else:
        assert parse_command_line(["--plugin", "deeplab", "--config", str(path)]).setup()


def test_the_documents_have_many_runs():
    assert len(RUNS) > 70


def test_commands_are_found_behind_others():
    from documents.blocks import Block

    text = (
        "A=1 .venv/bin/tf-frame a \\\n  b | tf-frame c  # why\necho && tf-frame launch -- run d\n"
    )
    found = list(commands(Block("", "", "sh", 1, text)))
    assert found == [["a", "b"], ["c"], ["launch", "--", "run", "d"]]
    assert [run_options(words) for words in found] == [None, None, ["d"]]
