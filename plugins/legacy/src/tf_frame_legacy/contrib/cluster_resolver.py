"""`TPUClusterResolver` without a TPU, for programs that make one in any case."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError

_ADDRESSES = ("grpc://", "/bns")


class TPUClusterResolver(tf.distribute.cluster_resolver.SimpleClusterResolver):  # type: ignore[misc]
    """Names the target of sessions; looks for no TPU.

    TensorFlow's own class asks the services of Google Cloud for any name, also for an empty one.

    Args:
      tpu: an empty text, `local` or the address of a server.
      zone, project, job_name, coordinator_name, coordinator_address, credentials, service,
        discovery_url: without effect.

    Raises:
      ConfigError: `tpu` is the name of a Cloud TPU.
    """

    def __init__(
        self,
        tpu: str | None = None,
        zone: str | None = None,
        project: str | None = None,
        job_name: str = "worker",
        coordinator_name: str | None = None,
        coordinator_address: str | None = None,
        credentials: Any = "default",
        service: Any = None,
        discovery_url: str | None = None,
    ) -> None:
        del zone, project, job_name, coordinator_name, coordinator_address
        del credentials, service, discovery_url
        name = tf.compat.as_str(tpu or "")
        if name and name != "local" and not name.startswith(_ADDRESSES):
            raise ConfigError(
                f"TPUClusterResolver(tpu={name!r}): tf-frame runs on CPUs and GPUs, not on TPUs; "
                "leave the name of the TPU out, and give --use_tpu=False"
            )
        super().__init__(tf.train.ClusterSpec({}), master="" if name == "local" else name)

    def get_master(self) -> str:
        """Returns the target of sessions; the old name of `master`."""
        return str(self.master())
