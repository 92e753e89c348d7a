"""Environment variables that change what TensorFlow or tf-frame does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tf_frame.cli.doctor.check import OK, PROBLEM, WARNING, Check
from tf_frame.cluster.find import find_cluster
from tf_frame.cluster.tf_config import TF_CONFIG
from tf_frame.config.option_groups import ClusterOptions
from tf_frame.errors import ConfigError

_EFFECTS = {
    "CUDA_VISIBLE_DEVICES": "TensorFlow sees only these GPUs, numbered anew",
    "LD_LIBRARY_PATH": "libraries there, such as another CUDA, are taken first",
    "LD_PRELOAD": "these libraries are loaded into every process",
    "NVIDIA_TF32_OVERRIDE": "0 turns TF32 off, which is slower and more exact",
    "PYTHONPATH": "modules there are taken before the installed packages",
    "TF_CPP_MIN_LOG_LEVEL": "level of TensorFlow's C++ log; --verbosity has no effect on it",
    "TF_CPU_ALLOCATOR_USE_BFC": "1 lets a profile show the memory of a CPU",
    "TF_DETERMINISTIC_OPS": "1 takes deterministic kernels, which are slower",
    "TF_ENABLE_ONEDNN_OPTS": "0 turns oneDNN's kernels off, which changes the last digits",
    "TF_FORCE_GPU_ALLOW_GROWTH": "overrides --gpu_memory_growth",
    "TF_GPU_ALLOCATOR": "another allocator of GPU memory",
    "TF_NUM_INTEROP_THREADS": "counts where --inter_op_threads is not given",
    "TF_NUM_INTRAOP_THREADS": "counts where --intra_op_threads is not given",
    "TF_USE_LEGACY_KERAS": "1 makes tf.keras the package tf_keras",
    "TF_XLA_FLAGS": "options of XLA, which may compile parts of the graph",
    "XLA_FLAGS": "options of XLA",
}
_LONGEST = 60


def checks(environment: Mapping[str, str]) -> Iterator[Check]:
    """Yields a check for each variable that is set; one for none."""
    found = [
        *_tf_config(environment),
        *_harmful(environment),
        *(
            Check(name, OK, f"{_short(environment[name])}: {effect}")
            for name, effect in _EFFECTS.items()
            if name in environment
        ),
    ]
    yield from found or [Check("environment", OK, "no variable changes TensorFlow's behaviour")]


def _short(value: str) -> str:
    return value if len(value) <= _LONGEST else f"{value[:_LONGEST]}..."


def _tf_config(environment: Mapping[str, str]) -> Iterator[Check]:
    if not environment.get(TF_CONFIG):
        return
    advice = ("unset TF_CONFIG or give --cluster_from none to train alone",)
    try:
        cluster = find_cluster(ClusterOptions(), environment)
    except ConfigError as error:
        yield Check(TF_CONFIG, PROBLEM, str(error), advice)
        return
    tasks = sum(map(len, cluster.jobs.values()))
    if tasks <= 1:
        yield Check(TF_CONFIG, OK, "a single process")
        return
    joins = f"a run here is {cluster.task_name} of {tasks} tasks, and waits for them"
    yield Check(TF_CONFIG, OK, joins, advice)


def _harmful(environment: Mapping[str, str]) -> Iterator[Check]:
    """Variables that cost speed or connections, and are seldom meant."""
    name = "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION"
    if environment.get(name) == "python":
        found = "python: protocol buffers, and so graphs and events, are read slowly"
        yield Check(name, WARNING, found, (f"unset {name}",))
    name = "TF_CPP_MAX_VLOG_LEVEL"
    if environment.get(name, "0") != "0":
        found = f"{environment[name]}: TensorFlow logs each operation, which is slow"
        yield Check(name, WARNING, found, (f"unset {name}",))
    name = "grpc_proxy"
    if environment.get(name):
        found = f"{_short(environment[name])}: the tasks of a job reach each other by it"
        yield Check(name, WARNING, found, (f"unset {name}, unless the proxy passes gRPC on",))
