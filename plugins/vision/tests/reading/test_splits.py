import re

import pytest

from tf_frame.errors import ConfigError, DataError
from tf_frame_vision.reading.folders import HeldOutOptions
from tf_frame_vision.reading.splits import (
    check_held_out,
    check_one_choice,
    find_splits,
    split_kind,
)


@pytest.mark.parametrize(
    "names, eval_split, expected, notes",
    [
        ("train valid test", "val", "train valid test", "test is not used; .* evaluates"),
        ("train valid test", "test", "train test test", "valid is not used$"),
        ("train test", "val", "train - test", "test is not used; "),
        ("Train Validation Test", "val", "Train Validation Test", "Test is not used; "),
        ("training dev testing other", "val", "training dev testing", "testing is not used; "),
        ("train2017 val2017 test_2017", "val", "train2017 val2017 test_2017", "test_2017 is"),
        ("train1 val2 tests", "val", "- - -", ""),
        ("default", "val", "default - -", ""),
        ("default train val", "val", "train val -", "default is not used$"),
        ("cat dog", "test", "- - -", ""),
        ("train val .test __MACOSX", "val", "train val -", ""),
    ],
)
def test_one_rule_finds_the_parts(tmp_path, names, eval_split, expected, notes):
    for name in names.split():
        (tmp_path / name).mkdir()
    splits = find_splits(tmp_path, eval_split=eval_split)
    paths = (splits.train, splits.eval, splits.test)
    assert " ".join(path.name if path else "-" for path in paths) == expected
    if notes:
        (note,) = splits.notes()
        assert re.search(notes, note)
    else:
        assert not splits.notes()


def test_files_are_parts_with_their_beginning_and_ending(tmp_path):
    for name in ("instances_Train.json", "instances_valid2017.JSON", "captions_val.json"):
        (tmp_path / name).touch()
    (tmp_path / "instances_test.json").mkdir()
    splits = find_splits(tmp_path, before="instances_", ending=".json")
    assert splits.train == tmp_path / "instances_Train.json"
    assert splits.eval == tmp_path / "instances_valid2017.JSON"
    assert splits.test is None and not splits.unused
    assert [split_kind(name) for name in ("VALID", "test2012", "x")] == ["eval", "test", ""]


def test_two_parts_of_one_meaning_and_a_missing_test_part_are_refused(tmp_path):
    for name in ("train", "val", "dev"):
        (tmp_path / name).mkdir()
    with pytest.raises(DataError, match="has both dev and val, of the same meaning; remove"):
        find_splits(tmp_path)
    (tmp_path / "train").rename(tmp_path / "cat")
    # Classes may have such names.
    assert find_splits(tmp_path, eval_split="test").train is None
    (tmp_path / "cat").rename(tmp_path / "train")
    (tmp_path / "dev").rmdir()
    with pytest.raises(DataError, match="--input.eval_split test: .* no part called test or"):
        find_splits(tmp_path, eval_split="test")


def test_a_test_part_alone_is_told_how_it_is_evaluated(tmp_path):
    (tmp_path / "Testing").mkdir()
    message = (
        f"--input.eval_split test: {tmp_path} has Testing, but no part to train on; to evaluate it "
        f"alone, give --input.data_dir {tmp_path}/Testing --input.eval_fraction 1 instead"
    )
    with pytest.raises(DataError, match=re.escape(message)):
        check_held_out(tmp_path, "test")


def test_two_options_that_say_what_is_evaluated_are_refused():
    check_one_choice(HeldOutOptions(eval_split="test"), "eval_fraction")
    check_one_choice(HeldOutOptions(eval_fraction=0.3), "eval_fraction")
    with pytest.raises(ConfigError, match="eval_split test and --input.eval_fraction both choose"):
        check_one_choice(HeldOutOptions(eval_split="test", eval_fraction=0.3), "eval_fraction")
