from made_up_runs import alive
from tf_frame.runs.records.options import all_options, differing_options
from tf_frame.runs.records.record import read_record

ONE = """plugin: deeplab
learning_rate: 0.1
eval_steps: null
model:
  decoder: 64
  heads: [a, b]
input: {name: nuclei, crop_size: 129,
  flip: true}
hooks:
- name: csv
  every: 10
versions: {tf-frame: 0.1.0}
"""


def blocks(make_run, name, config):
    return read_record(make_run(name, config=config), alive).blocks


def test_options_that_all_share_are_left_out(make_run):
    other = ONE.replace("0.1\n", "0.25\n").replace("64", "128").replace("flip: true", "flip: false")
    other = other.replace("every: 10", "every: 20").replace("0.1.0", "0.2.0")
    first, second = differing_options(
        [blocks(make_run, "a", ONE), blocks(make_run, "b", f"{other}added: 1\n")]
    )
    assert first == {
        **{"learning_rate": "0.1", "model.decoder": "64", "input.flip": "true"},
        **{"hooks": "name=csv every=10", "added": "none"},
    }
    assert list(second.values()) == ["0.25", "128", "false", "name=csv every=20", "1"]
    assert differing_options([blocks(make_run, "c", ONE)]) == [{}] and not differing_options([])


def test_a_run_without_options_makes_no_difference(make_run):
    runs = [blocks(make_run, name, f"rate: {name}\nplugin: x\n") for name in ("a", "b")]
    assert differing_options([*runs, {}]) == [{"rate": "a"}, {"rate": "b"}, {"rate": ""}]


def test_all_options(make_run):
    options = all_options(blocks(make_run, "a", ONE))
    assert options["input"] == "nuclei" and options["input.crop_size"] == "129"
    assert options["model.heads"] == "a,b" and options["eval_steps"] == "none"
    assert "versions" not in options


def test_a_section_that_is_no_yaml_is_its_text(make_run):
    assert all_options(blocks(make_run, "a", "model: {a: [\nplugin: x\n")) == {
        "model": " {a: [",
        "plugin": "x",
    }
