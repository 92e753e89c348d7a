import dataclasses

import numpy as np
import pytest
from hypothesis import strategies

from properties import COUNTS, TEXTS, check_many
from tf_frame import InputInfo, Mode
from tf_frame.errors import ConfigError
from tf_frame.runs.setup.model_dir import (
    INPUT_FILE,
    completed_step,
    read_input_info,
    write_completed_step,
    write_input_info,
)


@COUNTS
def test_names_of_classes_are_read_as_they_were_written(tmp_path, count):
    def check(names, ids, colours):
        info = InputInfo(
            num_examples={Mode.EVAL: 3},
            num_classes=len(names),
            class_names=tuple(names),
            class_ids=tuple(ids),
            class_colours=tuple(colours),
        )
        write_input_info(str(tmp_path), "photos", info)
        assert read_input_info(str(tmp_path), "photos") == info

    byte = strategies.integers(0, 255)
    check_many(
        check,
        count,
        names=strategies.lists(TEXTS, max_size=4),
        ids=strategies.lists(strategies.integers(), max_size=4),
        colours=strategies.lists(strategies.tuples(byte, byte, byte), max_size=4),
    )


def test_the_last_completed_step_counts(tmp_path):
    assert completed_step(str(tmp_path)) is None
    for step in (0, 12):
        write_completed_step(str(tmp_path), step)
        assert completed_step(str(tmp_path)) == step
    (file,) = tmp_path.iterdir()
    for text in ("", "-3", "three", "\u00b2", "1" * 5000):
        file.write_text(text)
        assert completed_step(str(tmp_path)) is None


@pytest.mark.parametrize(
    "info",
    [
        InputInfo(),
        InputInfo({Mode.TRAIN: 5, Mode.EVAL: 2}, 2, ("caf\u00e9", "\udcff"), 255),
        InputInfo(num_classes=np.int64(3)),
        InputInfo(num_classes=2, class_colours=((0, 0, 0), (1, 2, 255)), class_ids=(7, 11)),
    ],
)
def test_facts_about_the_data_are_read_as_they_were_written(tmp_path, info):
    write_input_info(str(tmp_path), "photos", info)
    assert read_input_info(str(tmp_path), "photos") == info
    assert read_input_info(str(tmp_path), "other") is None


def test_facts_of_a_class_of_the_plugin_are_not_recorded(tmp_path):
    @dataclasses.dataclass(frozen=True)
    class MoreInfo(InputInfo):
        model: object = None

    write_input_info(str(tmp_path), "photos", MoreInfo())
    assert read_input_info(str(tmp_path), "photos") is None


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"input": "photos", "colour": 3}'])
def test_damaged_facts_are_an_error(tmp_path, content):
    (tmp_path / INPUT_FILE).write_text(content)
    with pytest.raises(ConfigError, match=f"{INPUT_FILE} is damaged: "):
        read_input_info(str(tmp_path), "photos")
