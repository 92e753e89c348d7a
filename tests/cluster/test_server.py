"""The loop of a parameter server, which ends when the chief says so."""

import threading

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.cluster.server import LEAVE, STOPPED, serve

QUEUE = "tf_frame/commands"


@pytest.fixture
def server():
    return tf.train.Server.create_local_server()


def send(server, *commands):
    with tf.Graph().as_default():
        queue = tf.FIFOQueue(-1, tf.string, shapes=[[]], shared_name=QUEUE)
        with tf.Session(server.target) as session:
            for command in commands:
                session.run(queue.enqueue(command))


@pytest.mark.parametrize("commands", [(LEAVE,), (STOPPED, LEAVE)])
def test_it_serves_until_the_chief_ends_the_job_and_leaves_no_thread(server, commands):
    before, others = set(threading.enumerate()), []
    send(server, b"another", *commands)
    assert serve(server, obey=others.append)
    assert others == [b"another"]
    assert set(threading.enumerate()) <= before


def test_a_signal_ends_it_once_the_chief_has_stopped(server):
    before = set(threading.enumerate())
    send(server, STOPPED)
    assert not serve(server, signalled=lambda: True)
    assert set(threading.enumerate()) <= before
