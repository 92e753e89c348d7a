import pytest

from tf_frame.profiling.model_cost import Layer
from tf_frame.profiling.model_table import format_model

MIB = 2**20


def layer(name, parameters, multiply_adds, kept=0, **rest):
    counts = {"parameters": parameters, "multiply_adds": multiply_adds}
    return Layer(name, **counts, activation_bytes=kept, **rest)


STEP = {"flops": 30_000_000, "forward_flops": 9_000_000, "backward_flops": 20_000_000}
LAYERS = [
    layer("", 1500, 4_000_000, 4 * MIB, **STEP),
    layer("net", 1500, 4_000_000, 3 * MIB),
    layer("net/stem", 500, 3_000_000, MIB, output=(2, 8, 8, 4)),
    layer("net/stem/conv", 500, 3_000_000, MIB),
    layer("net/head", 1000, 1_000_000, 2 * MIB),
    layer("net/head/BatchNorm", 100, 0),
    layer("net/unused", 0, 0),
    layer("optimizer", 0, 0, flops=1_000),
]


def rows(**options):
    return format_model(LAYERS, **{"examples": 2} | options).splitlines()


def test_rows_are_nested_and_indented_to_a_depth():
    table = [line.split() for line in rows()]
    assert table[1] == ["net", "1,500", "100.0", "2.0", "M", "100.0", "3.0", "MiB", "75.0"]
    # A scope with all of its cost in one scope is in one row with it.
    assert table[2][:8] == ["stem/conv", "2", "x", "8", "x", "8", "x", "4"]
    assert table[2][8:] == ["500", "33.3", "1.5", "M", "75.0", "1.0", "MiB", "25.0"]
    assert [line[0] for line in table[3:6]] == ["head", "BatchNorm", "total"]
    assert table[5][1:] == ["1,500", "100.0", "2.0", "M", "100.0", "4.0", "MiB", "100.0"]
    labels = [line[: len(line) - len(line.lstrip())] for line in rows()[1:6]]
    assert labels == ["", "  ", "  ", "    ", ""]
    assert [line.split()[0] for line in rows(depth=1)[1:3]] == ["net", "total"]
    assert "--show_model_depth" in rows(depth=1)[-1]
    for all_rows in (rows(), rows(depth=9)):
        assert not any("--show_model_depth" in line for line in all_rows)


def test_costliest_scopes_are_shown_and_the_step_is_in_the_last_line():
    many = [layer(f"net/block{i}", 1 + i, 1) for i in range(20)]
    many += [layer(f"net/block{i}/unit{j}", 1, 0) for i in range(20) for j in range(2)]
    layers = [layer("", 210, 20), layer("net", 210, 20), *many]
    labels = [line.split()[0] for line in format_model(layers, examples=1).splitlines()]
    table = labels[1 : labels.index("total")]
    assert len(table) == 39
    assert table[-3:] == ["block19", "unit0", "unit1"]
    assert table[:3] == ["net", "block0", "block1"]
    assert rows()[-1] == (
        "floating-point operations of such a step: 30.0 M (forward 9.0 M, backward 20.0 M, "
        "update 1.0 M)"
    )


@pytest.mark.parametrize("products", [0, 3])
def test_what_is_not_counted_is_said(products):
    whole = layer("", 1, 1, unknown=5, unknown_products=products)
    text = format_model([whole, layer("net", 1, 1, unknown_products=products)], examples=1)
    assert f"not static: {products} convolutions and matrix products, 5 others" in text
    assert ("+ ?" in text) == bool(products)
