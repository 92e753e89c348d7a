import warnings

import numpy as np
import pytest

from tf_frame.checkpoint.find.reader import Checkpoint
from tf_frame.checkpoint.rewrite.rename import plan_rewriting
from tf_frame.errors import CheckpointError, ConfigError, UnmatchedPatternWarning

VALUES = {
    "net/w": np.arange(6, dtype=np.float32).reshape(2, 3),
    "net/w/Momentum": np.ones([2, 3], np.float32),
    "names": np.array([b"a\0"], object),
    "global_step": np.int64(7),
}


@pytest.fixture
def source(write):
    return Checkpoint(write("source", VALUES))


@pytest.fixture
def plan(source, tmp_path):
    def plan(*rules, drop=(), **options):
        path = str(tmp_path / "out" / "model.ckpt-0")
        return plan_rewriting(source, path, rules=rules, drop=drop, **options)

    return plan


def problem(plan, *rules, **options):
    with pytest.raises(ConfigError) as error:
        plan(*rules, **options)
    return str(error.value)


def test_variables_are_renamed_dropped_and_kept(plan, tmp_path):
    planned = plan(r"net/(.*)=backbone/\1", drop=[".*/Momentum"])
    assert planned.changed == {"net/w": "backbone/w"}
    assert planned.dropped == ["net/w/Momentum"]
    planned.write()
    written = Checkpoint(str(tmp_path / "out" / "model.ckpt-0"))
    assert written.names == ["backbone/w", "global_step", "names"]
    assert written.read("backbone/w").tobytes() == VALUES["net/w"].tobytes()
    assert written.read("names").tolist() == [b"a\0"]
    assert written.global_step == 7


def test_planning_writes_nothing_and_the_source_stays_as_it_was(plan, tmp_path):
    files = sorted(tmp_path.rglob("*"))
    before = {path: path.read_bytes() for path in tmp_path.glob("source.*")}
    planned = plan("net/w=w")
    assert sorted(tmp_path.rglob("*")) == files
    planned.write()
    assert {path: path.read_bytes() for path in tmp_path.glob("source.*")} == before
    assert len(before) == 2


def test_names_can_be_exchanged(plan, tmp_path):
    plan("net/w=net/w/Momentum", "net/w/Momentum=net/w").write()
    written = Checkpoint(str(tmp_path / "out" / "model.ckpt-0"))
    np.testing.assert_array_equal(written.read("net/w"), VALUES["net/w/Momentum"])
    np.testing.assert_array_equal(written.read("net/w/Momentum"), VALUES["net/w"])


def test_two_variables_with_one_new_name_are_refused(plan):
    assert problem(plan, "net/.*=w", "names=w") == (
        "1 new names would belong to several variables:\n  w: names, net/w, net/w/Momentum\n"
        "change the --rule, or --drop all but one"
    )


def test_a_new_name_that_another_variable_has_is_refused_unless_it_becomes_free(plan):
    assert "global_step: global_step, names" in problem(plan, "names=global_step")
    planned = plan("names=global_step", drop=["global_step"])
    assert planned.changed == {"names": "global_step"}
    # A drop comes before a rule.
    assert plan("net/w=w", drop=["net/w"]).changed == {}


def test_nothing_to_change_is_an_error(plan):
    with pytest.warns(UnmatchedPatternWarning):
        message = problem(plan, "nat/w=w")
    assert message.startswith("nothing to change: no rule gives a variable of ")
    assert "nothing to change" in problem(plan, r"(.*)=\1")


def test_patterns_that_match_nothing_are_warned_of(plan):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UnmatchedPatternWarning)
        plan("net/w=w", "nat/w=x", drop=["Momentum"])
    assert [str(warning.message) for warning in caught] == [
        "--drop 'Momentum' matches the whole name of none of the 4 variables; did you mean "
        "'net/w/Momentum'?",
        "--rule 'nat/w=x' matches the whole name of none of the 4 variables; did you mean 'net/w'?",
    ]


def test_malformed_rules_and_drops_are_errors(plan):
    assert "expected REGEX=REPLACEMENT" in problem(plan, "net/w")
    assert "--drop '(' is not a regular expression" in problem(plan, drop=["("])
    assert problem(plan, drop=[".*"]).startswith("--drop leaves none of the 4 variables of ")


def test_what_is_there_is_only_replaced_when_asked(plan, tmp_path):
    plan("net/w=w").write()
    assert "exists; take another name" in problem(plan, "net/w=v")
    plan("net/w=v", overwrite=True).write()
    assert "v" in Checkpoint(str(tmp_path / "out" / "model.ckpt-0"))


def test_a_source_that_is_damaged_leaves_nothing_behind(plan, source, corrupt, tmp_path):
    planned = plan("net/w=w")
    corrupt(source.path)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(CheckpointError, match=f"^the checkpoint {source.path} cannot be read"):
        planned.write()
    assert sorted(tmp_path.rglob("*")) == before
