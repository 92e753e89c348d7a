import importlib

import pytest

from tf_frame.launch.job import OPTIONS, PLACES, Job


@pytest.mark.parametrize("place", PLACES)
def test_the_options_of_a_place_are_valid(place):
    for option in (*OPTIONS, *importlib.import_module(PLACES[place]).OPTIONS):
        option.check_definition()
        assert option.help


def test_a_job_with_another_default_folder():
    words = ["run", "--plugin", "toy", "--model_dir", "runs/toy-1", "--dedicated_evaluator"]
    job = Job(words=words, model_dir="runs/toy-1", is_default_dir=True).in_folder("runs/toy-1-2")
    assert job.model_dir == "runs/toy-1-2"
    assert job.words == [*words[:4], "runs/toy-1-2", "--dedicated_evaluator"]
    joined = Job(words=["run", "--model_dir=a"], model_dir="a").in_folder("b")
    assert joined.words == ["run", "--model_dir=a", "--model_dir", "b"]
