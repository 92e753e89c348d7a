import pytest
import tensorflow.compat.v1 as tf

from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.deploy.placement import variables_placed
from tf_frame.deploy.placement_report import placement_table
from tf_frame.text import readable_bytes


def make_table(num_ps_tasks, **lengths):
    config = DeploymentConfig(num_ps_tasks=num_ps_tasks)
    with tf.Graph().as_default(), variables_placed(config):
        for name, length in lengths.items():
            tf.get_variable(name, [length])
        return placement_table(tf.global_variables(), config)


@pytest.mark.usefixtures("variable_mode")
def test_rows_hold_the_variables_and_bytes_of_each_device():
    report = make_table(2, a=10, b=1, c=20)
    assert report.rows == (
        ("/job:ps/task:0/device:CPU:0", 2, 120),
        ("/job:ps/task:1/device:CPU:0", 1, 4),
    )
    assert report.total == ("total", 3, 124)
    assert report.imbalance == pytest.approx(120 / 62)
    report = make_table(4, a=10)
    assert [row.num_variables for row in report.rows] == [1, 0, 0, 0]
    assert report.imbalance == 4.0
    report = make_table(0, a=10, b=5)
    assert report.rows == (("/device:CPU:0", 2, 60),)
    assert report.imbalance is None
    assert "mean" not in report.text()
    report = make_table(2)
    assert (report.imbalance, report.total) == (None, ("total", 0, 0))


def test_other_devices_follow_the_tasks_and_do_not_count_as_imbalance():
    config = DeploymentConfig(num_ps_tasks=1)
    with tf.Graph().as_default():
        with tf.device("/job:worker/device:CPU:0"):
            local = tf.get_variable("local", [5])
        with tf.device(config.ps_task_device(0)):
            shared = tf.get_variable("shared", [1])
        nowhere = tf.get_variable("nowhere", [2])
        report = placement_table([local, nowhere, shared], config)
    assert report.rows == (
        ("/job:ps/task:0/device:CPU:0", 1, 4),
        ("/job:worker/device:CPU:0", 1, 20),
        ("(no device)", 1, 8),
    )
    assert report.imbalance == 1.0


def test_the_text_is_an_aligned_table():
    report = make_table(2, a=300, b=1)
    assert str(report) == report.text()
    assert report.text().splitlines() == [
        "device                       variables     size",
        "/job:ps/task:0/device:CPU:0          1  1.2 KiB",
        "/job:ps/task:1/device:CPU:0          1      4 B",
        "total                                2  1.2 KiB",
        "largest task over mean of tasks: 1.993",
    ]


@pytest.mark.parametrize(
    ("num_bytes", "expected"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1536, "1.5 KiB"),
        (1024**2 - 1, "1.0 MiB"),
        (1024**2, "1.0 MiB"),
        (27_182_194 * 4, "103.7 MiB"),
        (5 * 1024**3, "5.0 GiB"),
        (2048 * 1024**4, "2048.0 TiB"),
    ],
)
def test_bytes_are_readable(num_bytes, expected):
    assert readable_bytes(num_bytes) == expected
