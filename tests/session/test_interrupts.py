import os
import signal
import threading

import pytest

from tf_frame.session.interrupts import Interrupted, Interrupts


def send(signum):
    os.kill(os.getpid(), signum)


@pytest.fixture
def installed():
    interrupts = Interrupts()
    with interrupts.installed():
        yield interrupts


@pytest.mark.parametrize(("signum", "exit_code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_outside_of_training_ends_the_run_at_once(installed, signum, exit_code):
    with pytest.raises(Interrupted, match=f"^{signum.name}: stopped; nothing was") as error:
        send(signum)
    assert error.value.exit_code == exit_code
    assert installed.received == signum


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
def test_the_first_signal_is_only_noted_while_patient(installed, signum):
    with installed.patiently():
        assert installed.received is None
        send(signum)
        assert installed.received == signum


@pytest.mark.parametrize(("signum", "exit_code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_the_second_signal_ends_the_run_at_once(installed, signum, exit_code):
    with installed.patiently():
        send(signal.SIGTERM)
        with pytest.raises(Interrupted, match="stopped at once; what was not saved") as error:
            send(signum)
    assert error.value.exit_code == exit_code


def test_patience_ends_with_its_block(installed):
    with installed.patiently():
        send(signal.SIGTERM)
    with pytest.raises(Interrupted):
        send(signal.SIGTERM)


def test_patience_ends_with_an_error_too(installed):
    with pytest.raises(ValueError, match="a defect"), installed.patiently():
        raise ValueError("a defect")
    with pytest.raises(Interrupted):
        send(signal.SIGTERM)


def handlers():
    return [signal.getsignal(signum) for signum in Interrupts.SIGNALS]


def test_the_handlers_of_before_are_restored():
    before = handlers()
    with Interrupts().installed():
        assert all(new != old for new, old in zip(handlers(), before, strict=True))
    assert handlers() == before


def test_the_handlers_of_before_are_restored_after_a_signal():
    before = handlers()
    with pytest.raises(Interrupted), Interrupts().installed():
        send(signal.SIGTERM)
    assert handlers() == before


def test_in_another_thread_nothing_is_installed():
    before, inside = handlers(), []

    def install():
        with Interrupts().installed() as interrupts:
            inside.append((interrupts.received, handlers()))

    thread = threading.Thread(target=install)
    thread.start()
    thread.join()
    assert inside == [(None, before)]
