"""The context of a run without a TPU, for copies of the original TPUEstimator in programs.

Programs such as XLNet and Transformer-XL bring a `tpu_estimator.py` of their own, a subclass of
`Estimator`. With `use_tpu=False` it asks the context for batch sizes and for the device alone.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator
from typing import Any

from tf_frame.errors import ConfigError
from tf_frame.estimator.model_function.spec import ModeKeys


class InternalTPUContext:
    """The batch sizes of the modes, and the answer that everything runs on the CPU.

    Args:
      config: a `RunConfig` of tf.contrib.tpu.
      train_batch_size, eval_batch_size, predict_batch_size: examples of a batch, or None.
      use_tpu: must be False.
      eval_on_tpu, embedding_config_spec: without effect.

    Raises:
      ConfigError: a TPU is asked for.
    """

    num_cores = num_hosts = num_replicas = num_of_cores_per_host = num_of_replicas_per_host = 1
    model_parallelism_enabled = False
    device_assignment = embedding_config = master_job = None

    def __init__(
        self,
        config: Any,
        train_batch_size: int | None,
        eval_batch_size: int | None,
        predict_batch_size: int | None,
        use_tpu: bool,
        eval_on_tpu: bool = True,
        embedding_config_spec: Any = None,
    ) -> None:
        del eval_on_tpu, embedding_config_spec
        if use_tpu:
            raise ConfigError(
                "use_tpu=True: tf-frame runs on CPUs and GPUs, not on TPUs; pass use_tpu=False "
                "(the default is True; most programs have a flag: --use_tpu=False)"
            )
        self.config = config
        self._batch_sizes = {
            ModeKeys.TRAIN: train_batch_size,
            ModeKeys.EVAL: eval_batch_size,
            ModeKeys.PREDICT: predict_batch_size,
        }
        self._mode: str | None = None

    @contextlib.contextmanager
    def with_mode(self, mode: str) -> Iterator[InternalTPUContext]:
        """Gives the block a copy for a mode."""
        context = copy.copy(self)
        context._mode = mode
        yield context

    @property
    def mode(self) -> str:
        """The mode of `with_mode`; a RuntimeError outside of it."""
        if self._mode is None:
            raise RuntimeError("`mode` needs to be set via contextmanager `with_mode`.")
        return self._mode

    @property
    def global_batch_size(self) -> int | None:
        """The examples of a batch in this mode, or None."""
        return self._batch_sizes.get(self.mode)

    @property
    def batch_size_for_input_fn(self) -> int | None:
        """The batch size that the input function gets."""
        return self.global_batch_size

    @property
    def batch_size_for_model_fn(self) -> int | None:
        """The batch size that the model function gets."""
        return self.global_batch_size

    def is_running_on_cpu(self, is_export_mode: bool = False) -> bool:
        """Returns True: nothing runs on a TPU."""
        del is_export_mode
        return True

    def is_input_broadcast_with_iterators(self) -> bool:
        """Returns False: the input is for one replica."""
        return False


class TPUContext:
    """The value of `params["context"]` in functions on a TPU; only the number of replicas is known.

    Args:
      internal_ctx: the context of the estimator.
      input_device, invocation_index, call_from_input_fn: without effect.
    """

    def __init__(
        self,
        internal_ctx: InternalTPUContext,
        input_device: Any = None,
        invocation_index: int | None = None,
        call_from_input_fn: bool = True,
    ) -> None:
        del input_device, invocation_index, call_from_input_fn
        self.num_replicas = internal_ctx.num_replicas
        self.num_hosts = internal_ctx.num_hosts
        self.num_of_replicas_per_host = internal_ctx.num_of_replicas_per_host
        self.current_host = 0
        self.device_assignment = None
