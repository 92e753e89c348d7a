"""Candidates by the options of a run and by the machine."""

from tf_frame.config.run_options import RunOptions
from tf_frame.experiments import candidates as module
from tf_frame.experiments.candidates import find_candidates

OPTIONS = {"steps_per_loop": 1, "xla": False, "mixed_precision": "none", "inter_op_threads": 0}


def texts(options=OPTIONS, cores=2, **conditions):
    found = find_candidates(options, cores=cores)
    return [str(c.variant) for c in found if all(getattr(c, k) == v for k, v in conditions.items())]


def test_options_that_are_set_are_not_tried_again():
    assert {"--steps_per_loop=10", "--xla=true"} <= set(texts())
    options = {**OPTIONS, "steps_per_loop": 100, "xla": True, "mixed_precision": "bfloat16"}
    assert not [text for text in texts(options) if "loop" in text or "xla" in text]
    assert "--mixed_precision=bfloat16" not in texts(options)


def test_threads_other_than_the_present_ones():
    assert texts(kind="threads", cores=4) == [
        "--inter_op_threads=1 --intra_op_threads=4",
        "--inter_op_threads=4 --intra_op_threads=1",
        "--inter_op_threads=8 --intra_op_threads=4",
    ]
    one = {**OPTIONS, "inter_op_threads": 1}
    assert texts(one, kind="threads", cores=4)[0] == "--inter_op_threads=4 --intra_op_threads=1"
    assert texts(kind="threads", cores=1) == ["--inter_op_threads=2 --intra_op_threads=1"]


def test_other_numbers_are_marked():
    options = {**OPTIONS, "model.data_format": "NCHW"}
    assert texts(options, same_numbers=False) == [
        "TF_ENABLE_ONEDNN_OPTS=0",
        "--mixed_precision=bfloat16",
        "--model.data_format=NHWC",
    ]


def test_allocators_that_are_installed(monkeypatch, tmp_path):
    (tmp_path / "libjemalloc.so.2").touch()
    monkeypatch.setattr(module, "_LIBRARIES", str(tmp_path / "lib{}.so*"))
    monkeypatch.setattr(module.ctypes.util, "find_library", lambda name: f"lib{name}.so")
    assert [text for text in texts() if "PRELOAD" in text] == [
        f"LD_PRELOAD={tmp_path}/libjemalloc.so.2"
    ]


def test_options_of_candidates_exist():
    options = {**OPTIONS, **dict.fromkeys(("inter_op_threads", "intra_op_threads"), 0)}
    names = {name for c in find_candidates(options, cores=4) for name in c.variant.options}
    assert names and names <= set(vars(RunOptions()))
