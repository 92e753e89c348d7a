"""tf.contrib.tpu and tf.estimator.tpu."""

from tf_frame_legacy.names.row import alias, not_offered, ours, reimplemented

_ESTIMATOR = "tensorflow_estimator.python.estimator.tpu"
_PRIVATE = "tf.contrib.tpu.python.tpu"
_PUBLIC = ("tf.contrib.tpu", "tf.estimator.tpu")
_TPU = "tf_frame_legacy.contrib.tpu"
_NO_TPU = "works on a TPU alone; tf-frame runs on CPUs and GPUs"
_EMBEDDING = (
    "lookups on a TPU; use tf.feature_column.embedding_column, or tf.nn.embedding_lookup in the "
    "model function"
)
_PARTS = "a part of the original TPUEstimator that runs TPUs"

ROWS = [
    *reimplemented(
        (*_PUBLIC, f"{_PRIVATE}.tpu_config", f"{_ESTIMATOR}.tpu_config"),
        _TPU,
        "InputPipelineConfig RunConfig TPUConfig",
        note="without effect outside of a TPU, but for the arguments of tf.estimator.RunConfig",
    ),
    *reimplemented(
        (*_PUBLIC, f"{_PRIVATE}.tpu_estimator", f"{_ESTIMATOR}.tpu_estimator"),
        _TPU,
        "TPUEstimator TPUEstimatorSpec",
        note="needs use_tpu=False",
    ),
    *reimplemented("tensorflow_estimator.python.estimator.estimator_lib", _TPU, "TPUEstimator"),
    *reimplemented(
        ("tf.contrib.tpu", f"{_PRIVATE}.tpu_estimator", f"{_ESTIMATOR}.tpu_estimator"),
        _TPU,
        "export_estimator_savedmodel",
    ),
    *reimplemented(
        (f"{_PRIVATE}.tpu_estimator", f"{_ESTIMATOR}.tpu_estimator"),
        _TPU,
        "ExportSavedModelApiVersion",
    ),
    *reimplemented(
        ("tf.contrib.tpu", "tf.tpu", f"{_PRIVATE}.tpu_optimizer", "tf.python.tpu.tpu_optimizer"),
        _TPU,
        "CrossShardOptimizer",
        note="TensorFlow's own class makes an operation that only a TPU can run",
    ),
    *ours(
        ("tf.contrib.tpu", f"{_PRIVATE}.async_checkpoint"),
        "tf_frame_legacy.estimator",
        "AsyncCheckpointSaverHook=CheckpointSaverHook",
        note="saves within the step, not in a thread",
    ),
    *ours(
        "tf.contrib.tpu",
        "tf_frame_legacy.estimator.experimental",
        "TPUInMemoryEvalHook=InMemoryEvaluatorHook",
    ),
    # A copy of the original TPUEstimator in a program asks for these.
    *reimplemented(
        (f"{_PRIVATE}.tpu_context", f"{_ESTIMATOR}.tpu_context"),
        f"{_TPU}.context",
        "TPUContext _InternalTPUContext=InternalTPUContext _OneCoreTPUContext=InternalTPUContext "
        "_get_tpu_context=InternalTPUContext",
        note="needs use_tpu=False",
    ),
    *reimplemented(
        (f"{_PRIVATE}.error_handling", f"{_ESTIMATOR}.error_handling"),
        f"{_TPU}.errors",
        "ErrorRendezvous",
    ),
    *reimplemented(
        (f"{_PRIVATE}.util", f"{_ESTIMATOR}.util"),
        f"{_TPU}.util",
        "IterationsPerLoopCounter check_positive_integer parse_iterations_per_loop",
    ),
    *reimplemented(
        (f"{_PRIVATE}.util", f"{_ESTIMATOR}.util"),
        "tf_frame_legacy.estimator.util",
        "MultiHostDatasetInitializerHook",
    ),
    *reimplemented(
        f"{_PRIVATE}.session_support",
        f"{_TPU}.session_support",
        "GracefulShutdownHook ResetComputation RestartComputation ShutdownAllWorkers "
        "ShutdownLameWorkers start_worker_watchdog",
        note="without effect: there are no workers of a TPU",
    ),
    *alias(f"{_PRIVATE}.tensor_tracer", "tensorflow.python.tpu.tensor_tracer", "TensorTracer"),
    *alias(
        f"{_PRIVATE}.tpu",
        "tensorflow.python.tpu.tpu_replication",
        "TPUReplicateContext _OUTSIDE_COMPILATION_ATTR _TPU_REPLICATE_ATTR",
    ),
    *alias(f"{_PRIVATE}.tpu_feed", "tensorflow.python.tpu.tpu_feed", "_PartitionedInfeedQueue"),
    *alias(
        "tf.contrib.tpu.proto",
        "tensorflow.core.protobuf.tpu",
        "compilation_result_pb2 dynamic_padding_pb2 optimization_parameters_pb2 topology_pb2 "
        "tpu_embedding_configuration_pb2",
    ),
    # TensorFlow 2 has these; they need a TPU, but for bfloat16_scope.
    *alias(
        "tf.contrib.tpu",
        "tensorflow.compat.v1.tpu",
        "batch_parallel bfloat16_scope core cross_replica_sum initialize_system "
        "outside_compilation replicate rewrite shard shutdown_system",
    ),
    *alias(f"{_PRIVATE}.bfloat16", "tensorflow.compat.v1.tpu", "bfloat16_scope"),
    *alias(
        ("tf.contrib.tpu", f"{_PRIVATE}.training_loop"),
        "tensorflow.python.tpu.training_loop",
        "while_loop repeat",
    ),
    *alias(
        ("tf.contrib.tpu", f"{_PRIVATE}.device_assignment"),
        "tensorflow.python.tpu.device_assignment",
        "DeviceAssignment device_assignment",
    ),
    *alias(
        ("tf.contrib.tpu", f"{_PRIVATE}.topology"), "tensorflow.python.tpu.topology", "Topology"
    ),
    *alias(
        ("tf.contrib.tpu", f"{_PRIVATE}.tpu_feed"), "tensorflow.python.tpu.tpu_feed", "InfeedQueue"
    ),
    *alias(
        ("tf.contrib.tpu", "tf.contrib.tpu.python.ops.tpu_ops"),
        "tensorflow.python.tpu.ops.tpu_ops",
        "infeed_dequeue infeed_dequeue_tuple",
    ),
    *alias(
        ("tf.contrib.tpu", "tf.contrib.tpu.python.ops.tpu_ops"),
        "tensorflow.raw_ops",
        "infeed_enqueue=InfeedEnqueue infeed_enqueue_tuple=InfeedEnqueueTuple "
        "outfeed_dequeue=OutfeedDequeue outfeed_dequeue_tuple=OutfeedDequeueTuple "
        "outfeed_enqueue=OutfeedEnqueue outfeed_enqueue_tuple=OutfeedEnqueueTuple",
        note="takes keyword arguments only",
    ),
    *alias(
        "tf.contrib.tpu.python.ops.tpu_ops",
        "tensorflow.python.tpu.ops.tpu_ops",
        "all_to_all collective_permute cross_replica_sum enqueue_tpu_embedding_integer_batch "
        "enqueue_tpu_embedding_sparse_batch enqueue_tpu_embedding_sparse_tensor_batch "
        "send_tpu_embedding_gradients",
    ),
    *alias(
        f"{_PRIVATE}.tpu_function",
        "tensorflow.python.tpu.tpu_function",
        "TpuContext get_tpu_context on_device_training_loop tpu_shard_context",
    ),
    *alias(
        f"{_PRIVATE}.tpu",
        "tensorflow.compat.v1.tpu",
        "batch_parallel core initialize_system outside_compilation replicate rewrite shard "
        "shutdown_system",
    ),
    *alias(
        f"{_PRIVATE}.tpu",
        "tensorflow.python.tpu.tpu",
        "initialize_system_for_tpu_embedding rewrite_for_inference split_compile_and_replicate "
        "split_compile_and_shard under_tpu_inference_context",
    ),
    *alias(f"{_PRIVATE}.datasets", "tensorflow.python.tpu.datasets", "StreamingFilesDataset"),
    *alias(f"{_PRIVATE}.tpu_sharding", "tensorflow.python.tpu.tpu_sharding", "ShardingPolicy"),
    *alias(
        f"{_PRIVATE}.tpu_system_metadata",
        "tensorflow.python.tpu.tpu_system_metadata",
        "get_session_config_with_timeout master_job",
    ),
    *alias(
        f"{_PRIVATE}.feature_column",
        "tensorflow.python.tpu.feature_column",
        "embedding_column shared_embedding_columns",
    ),
    *not_offered(
        "tf.contrib.tpu",
        "TPUDistributionStrategy keras_to_tpu_model",
        "Keras models on a TPU; tf-frame trains in graphs on CPUs and GPUs",
    ),
    *not_offered(
        "tf.contrib.tpu",
        "profiler",
        "profiles of a TPU; use tf.estimator.ProfilerHook, or --profile_at_step",
    ),
    *not_offered("tf.estimator.tpu.experimental", "EmbeddingConfigSpec", _EMBEDDING),
    *not_offered(
        (f"{_PRIVATE}.tpu_embedding", f"{_PRIVATE}.tpu_embedding_gradient"), "*", _EMBEDDING
    ),
    *not_offered(
        (f"{_PRIVATE}._tpu_estimator_embedding", f"{_ESTIMATOR}._tpu_estimator_embedding"),
        "*",
        _EMBEDDING,
    ),
    *not_offered((f"{_PRIVATE}.tpu_estimator", f"{_ESTIMATOR}.tpu_estimator"), "*", _PARTS),
    *not_offered((f"{_PRIVATE}.tpu_context", f"{_ESTIMATOR}.tpu_context"), "*", _PARTS),
    *not_offered((f"{_PRIVATE}.error_handling", f"{_ESTIMATOR}.error_handling"), "*", _PARTS),
    *not_offered((f"{_PRIVATE}.util", f"{_ESTIMATOR}.util"), "*", _PARTS),
    *not_offered((f"{_PRIVATE}.keras_support", f"{_PRIVATE}.keras_tpu_variables"), "*", _NO_TPU),
    *not_offered((f"{_PRIVATE}.session_support", f"{_PRIVATE}.tensor_tracer"), "*", _NO_TPU),
    *not_offered((f"{_PRIVATE}.functional", "tf.contrib.tpu.python.profiler"), "*", _NO_TPU),
]
