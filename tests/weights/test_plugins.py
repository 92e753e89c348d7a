"""Names of weights that a user types."""

import pytest

from tf_frame.errors import ConfigError
from tf_frame.weights.plugins import check_source


def test_a_value_that_is_no_weights_and_no_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.ckpt-7.index").touch()
    (tmp_path / "run[1]").mkdir()
    for text in ("", "model.ckpt-7", "run[1]", "mobilenet_v1_imagenet", "gs://a/b", "runs/none"):
        check_source(text)
    for text in ("model.ckpt", "run[2]", "mobilenet_v1_imagnet"):
        with pytest.raises(ConfigError, match="there is no such file, and no weights have this n"):
            check_source(text)
