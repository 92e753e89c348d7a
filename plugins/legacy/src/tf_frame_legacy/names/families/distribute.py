"""tf.contrib.distribute."""

from tf_frame_legacy.names.row import alias, not_offered, reimplemented

_CONTRIB = "tf.contrib.distribute"
_TODAY = "tensorflow.compat.v1.distribute"
_CLUSTERS = (
    "several machines; use TF_CONFIG with workers and parameter servers, or without parameter "
    "servers for an all-reduce"
)
_LOOPS = "a step function of its own; write a model function for tf.estimator.Estimator"

ROWS = [
    *reimplemented(
        (_CONTRIB, f"{_CONTRIB}.python.mirrored_strategy"),
        "tf_frame_legacy.contrib.distribute",
        "MirroredStrategy",
        note="for RunConfig(train_distribute=...): clones with variables on the CPU; it has no "
        "scope() for loops of a program's own",
    ),
    *reimplemented(
        (_CONTRIB, f"{_CONTRIB}.python.one_device_strategy"),
        "tf_frame_legacy.contrib.distribute",
        "OneDeviceStrategy",
    ),
    *alias(
        _CONTRIB,
        _TODAY,
        "CrossDeviceOps ReplicaContext get_loss_reduction get_replica_context get_strategy "
        "has_strategy in_cross_replica_context get_distribution_strategy=get_strategy "
        "has_distribution_strategy=has_strategy ReductionToOneDeviceCrossDeviceOps="
        "ReductionToOneDevice DistributionStrategy=Strategy "
        "DistributionStrategyExtended=StrategyExtended",
    ),
    *alias(
        _CONTRIB,
        "tensorflow.python.distribute.cross_device_ops",
        "AllReduceCrossDeviceOps AllReduceCrossTowerOps=AllReduceCrossDeviceOps",
        note="without effect in a MirroredStrategy",
    ),
    *alias(
        _CONTRIB,
        "tensorflow.python.distribute.distribute_lib",
        "UpdateContext get_cross_replica_context require_replica_context",
    ),
    *alias(
        _CONTRIB,
        "tensorflow.python.distribute.distribute_coordinator",
        "run_standard_tensorflow_server",
    ),
    *alias(_CONTRIB, "tensorflow.python.distribute.distribute_config", "DistributeConfig"),
    *not_offered(
        _CONTRIB,
        "CollectiveAllReduceStrategy ParameterServerStrategy MultiWorkerAllReduce",
        _CLUSTERS,
    ),
    *not_offered(_CONTRIB, "Monitor StandardInputStep StandardSingleLossStep Step", _LOOPS),
    *not_offered(
        _CONTRIB, "TPUStrategy initialize_tpu_system", "tf-frame runs on CPUs and GPUs, not on TPUs"
    ),
    *not_offered(
        tuple(
            f"{_CONTRIB}.python.{name}"
            for name in ("collective_all_reduce_strategy", "parameter_server_strategy")
        ),
        "*",
        _CLUSTERS,
    ),
]
