"""tf.contrib.cluster_resolver."""

from tf_frame_legacy.names.row import alias, reimplemented

_PRIVATE = "tf.contrib.cluster_resolver.python.training"
_TODAY = "tensorflow.compat.v1.distribute.cluster_resolver"

ROWS = [
    *alias(
        ("tf.contrib.cluster_resolver", f"{_PRIVATE}.cluster_resolver"),
        _TODAY,
        "ClusterResolver SimpleClusterResolver UnionClusterResolver=UnionResolver",
    ),
    *alias(
        "tf.contrib.cluster_resolver",
        _TODAY,
        "GCEClusterResolver KubernetesClusterResolver SlurmClusterResolver TFConfigClusterResolver",
    ),
    *alias(f"{_PRIVATE}.gce_cluster_resolver", _TODAY, "GCEClusterResolver"),
    *alias(f"{_PRIVATE}.kubernetes_cluster_resolver", _TODAY, "KubernetesClusterResolver"),
    *alias(f"{_PRIVATE}.slurm_cluster_resolver", _TODAY, "SlurmClusterResolver"),
    *alias(f"{_PRIVATE}.tfconfig_cluster_resolver", _TODAY, "TFConfigClusterResolver"),
    *reimplemented(
        (
            "tf.contrib.cluster_resolver",
            "tf.distribute.cluster_resolver",
            f"{_PRIVATE}.tpu_cluster_resolver",
            "tf.python.distribute.cluster_resolver.tpu_cluster_resolver",
        ),
        "tf_frame_legacy.contrib.cluster_resolver",
        "TPUClusterResolver",
        note="takes an address or no name at all; the name of a Cloud TPU is an error",
    ),
]
