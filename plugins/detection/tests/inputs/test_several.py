"""The detector on several inputs: two clones, a resumed run, an evaluation."""

import dataclasses

import pytest

from tf_frame.command_line.parsing import parse_command_line
from tf_frame.errors import ConfigError
from tf_frame.testing.toy import run_setup

MODEL = {
    "depth_multiplier": "0.1",
    "pyramid_channels": "8",
    "predictor_layers": "0",
    "strides": "8",
    "kernel_size": "1",
}


def make_setup(tmp_path, *sources, **options):
    words = [f"--model.{name}={value}" for name, value in MODEL.items()]
    words += [f"--{name}={value}" for name, value in options.items()]
    words += [f"--input.source={source}" for source in sources]
    folder = tmp_path / "run"
    folder.mkdir(exist_ok=True)
    words += ["--plugin=detection", "--input=several", f"--model_dir={folder}"]
    return parse_command_line(words).setup()


@pytest.fixture
def sources(forms, tmp_path):
    coco, voc = forms.coco_json(tmp_path / "coco"), forms.voc_xml(tmp_path / "voc")
    return [
        f"coco_json:batch_size=4:data_dir={coco}:image_size=32",
        f"voc_xml:batch_size=2:data_dir={voc}:image_size=32",
    ]


@pytest.mark.slow
def test_two_clones_train_and_resume_and_the_first_source_is_evaluated(tmp_path, sources):
    options = {"train_batch_size": 6, "num_clones": 2, "eval_batch_size": 1}
    first = make_setup(tmp_path, *sources, **options, max_steps=1, evaluate="false")
    run_setup(first, report=lambda line: None)
    said = []
    again = dataclasses.replace(first.config, max_steps=2, evaluate=True)
    result = run_setup(dataclasses.replace(first, config=again), report=said.append)
    assert result["global_step"] == 2 and "ap50_cat" in result["metrics"]
    assert "evaluations are of coco_json, the first source" in "\n".join(said)


def test_the_model_asks_all_sources_for_rotated_boxes(tmp_path):
    options = {"model.name": "rotated_retinanet", "input": "several"}
    setup = make_setup(tmp_path, "nuclei_boxes:batch_size=16", **options)
    (source,) = setup.make_input()._inputs
    assert source.params.rotated


def test_sources_with_other_classes_are_refused(tmp_path, sources):
    with pytest.raises(ConfigError, match="coco_json has the num_classes 2, but trees has 1"):
        make_setup(tmp_path, sources[0], "trees:batch_size=1").make_input()
