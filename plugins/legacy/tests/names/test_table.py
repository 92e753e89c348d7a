"""The table of names: every target exists, and is called as the original was."""

import ast
import collections
import inspect
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tf_frame_legacy.names import (
    ALIAS,
    NOT_OFFERED,
    OURS,
    REIMPLEMENTED,
    all_rows,
    canonical,
    find,
    table,
)
from tf_frame_legacy.program.view import load

Kind = inspect.Parameter
PUBLISHED = sorted((Path(__file__).parent / "published").glob("*.txt"))
OFFERED = [row for row in table().values() if row.kind != NOT_OFFERED]


def published_signatures(path):
    """Name -> arguments, from lines such as `tf.contrib.rnn.LSTMCell(num_units, name=None)`."""
    for line in path.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            name, _, arguments = line.partition("(")
            yield name.strip(), ast.parse(f"def f({arguments}: pass").body[0].args


def literal(node):
    """The value of a default; the node itself if it is an expression."""
    try:
        return ast.literal_eval(node)
    except ValueError:
        return node


def differences(name, published):
    """Differences in names, order and plain defaults; ours may have further arguments."""
    target = load(find(name).target)
    try:
        ours = [p for p in inspect.signature(target).parameters.values() if p.name != "self"]
    except ValueError:
        return  # A function of C++.
    takes_any = {p.kind for p in ours} >= {Kind.VAR_KEYWORD, Kind.VAR_POSITIONAL}
    names = [argument.arg for argument in published.args if argument.arg != "self"]
    defaults = dict(zip(names[::-1], published.defaults[::-1], strict=False))
    for number, argument in enumerate(names):
        if takes_any:
            return
        if number >= len(ours) or ours[number].name != argument:
            yield f"{name}: argument {number} was {argument}: {[p.name for p in ours]}"
            return
        if argument not in defaults:
            continue
        default, was = ours[number].default, literal(defaults[argument])
        plain = (bool, int, float, str, type(None))
        if default is inspect.Parameter.empty:
            yield f"{name}: {argument} had a default"
        elif isinstance(was, plain) and isinstance(default, plain) and default != was:
            yield f"{name}: the default of {argument} was {was!r}, is {default!r}"


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.stem)
def test_signatures_are_the_published_ones(path):
    found = []
    for name, arguments in published_signatures(path):
        row = find(name)
        assert row is not None and row.was == name, f"{name} is not in the table"
        if row.kind != NOT_OFFERED:
            found += differences(name, arguments)
    assert not found


def test_every_target_can_be_imported():
    missing = []
    # SciPy is no dependency: programs that use it have it.
    for row in (row for row in OFFERED if find_spec(row.target.partition(".")[0])):
        try:
            load(row.target)
        except (ImportError, AttributeError) as error:
            missing.append(f"{row.was} -> {row.target}: {error}")
    assert not missing


def test_no_name_is_in_the_table_twice():
    counts = collections.Counter(row.was for row in all_rows())
    assert not [name for name, count in counts.items() if count > 1]


def test_names_that_are_not_offered_have_a_reason():
    rows = [row for row in table().values() if row.kind == NOT_OFFERED]
    assert rows
    assert not [row.was for row in rows if row.target or len(row.note) < 8]
    assert {row.kind for row in OFFERED} == {OURS, ALIAS, REIMPLEMENTED}


@pytest.mark.parametrize(
    "name",
    [f"{root}.contrib.training.HParams" for root in ("tf", "tensorflow", "tensorflow.compat.v1")],
)
def test_tensorflow_may_be_spelled_in_several_ways(name):
    assert find(name).target == "tf_frame_legacy.training.HParams"
    assert canonical(name) == "tf.contrib.training.HParams"


def test_a_class_answers_for_its_attributes():
    assert find("tf.contrib.training.HParams.parse").was == "tf.contrib.training.HParams"
    # `tf.contrib.rnn` has no row, so it answers for none of its names.
    assert find("tf.contrib.rnn.NoCell") is None


def test_other_names_have_no_row():
    assert find("tf.matmul") is None
    assert find("tensorflow_hub.Module") is None


def test_a_module_that_is_not_offered_answers_for_all_its_names():
    assert find("tf.contrib.tensorrt.create_inference_graph").kind == NOT_OFFERED


def test_the_table_imports_no_tensorflow():
    code = "import sys; from tf_frame_legacy.names import table; table(); print(*sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "tensorflow" not in result.stdout.split()


@pytest.mark.parametrize(
    "name",
    [
        "tf.contrib.slim.metrics.streaming_mean",
        "tf.contrib.slim.layers.conv2d",
        "tf.contrib.slim.initializers.xavier_initializer",
        "tf.contrib.quantize.python.graph_matcher.OpTypePattern",
    ],
)
def test_names_that_programs_of_the_model_garden_use(name):
    assert find(name).target
