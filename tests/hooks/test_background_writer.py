import os
import threading

import pytest

from tf_frame.hooks.background_writer import wait_for_background_writer, write_in_background


def test_work_is_done_in_another_thread_in_its_order():
    done = []
    for number in range(100):
        write_in_background(lambda n: done.append((n, threading.current_thread().name)), number)
    wait_for_background_writer()
    assert done == [(number, "write_in_background") for number in range(100)]


def test_what_the_work_raises_comes_out_of_the_wait_and_only_once():
    done = []
    write_in_background(lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        wait_for_background_writer()
    write_in_background(done.append, 1)
    wait_for_background_writer()
    assert done == [1]


def test_work_may_wait_for_the_work_before_it():
    done = []
    write_in_background(done.append, 1)
    write_in_background(wait_for_background_writer)
    write_in_background(done.append, 2)
    wait_for_background_writer()
    assert done == [1, 2]


def test_the_caller_does_not_wait_for_the_work():
    may_go_on, done = threading.Event(), []
    write_in_background(may_go_on.wait)
    write_in_background(done.append, 1)
    assert done == []
    may_go_on.set()
    wait_for_background_writer()
    assert done == [1]


def test_a_forked_process_has_a_thread_of_its_own():
    write_in_background(lambda: None)
    wait_for_background_writer()
    child = os.fork()
    if child == 0:
        done = []
        write_in_background(done.append, 7)
        wait_for_background_writer()
        os._exit(done[0])
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_without_work_there_is_nothing_to_wait_for(monkeypatch):
    monkeypatch.setattr("tf_frame.hooks.background_writer._Current.worker", None)
    wait_for_background_writer()
