import pytest

from tf_frame.errors import ConfigError
from tf_frame_legacy.contrib import tpu
from tf_frame_legacy.contrib.cluster_resolver import TPUClusterResolver


def test_a_resolver_without_a_tpu():
    resolver = TPUClusterResolver("", zone=None, project=None)
    assert resolver.master() == resolver.get_master() == ""
    assert tpu.RunConfig(cluster=resolver).master == ""
    assert not resolver.cluster_spec().jobs
    assert TPUClusterResolver("grpc://host:1").master() == "grpc://host:1"
    assert TPUClusterResolver("local").master() == TPUClusterResolver().master() == ""
    with pytest.raises(ConfigError, match="--use_tpu=False"):
        TPUClusterResolver("my-tpu")
