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
def test_the_first_signal_is_only_noted_and_the_second_ends_the_run(installed, signum, exit_code):
    installed.raise_if_received()
    assert installed.received is None
    send(signum)
    assert installed.received == signum
    with pytest.raises(Interrupted, match=f"^{signum.name}: stopped; nothing was") as error:
        installed.raise_if_received()
    assert error.value.exit_code == exit_code
    with pytest.raises(Interrupted, match="stopped at once; what was not saved") as error:
        send(signum)
    assert error.value.exit_code == exit_code


def handlers():
    return [signal.getsignal(signum) for signum in Interrupts.SIGNALS]


def test_the_handlers_of_before_are_restored_also_after_a_signal():
    before = handlers()
    with Interrupts().installed():
        assert all(new != old for new, old in zip(handlers(), before, strict=True))
    assert handlers() == before
    with pytest.raises(Interrupted), Interrupts().installed():
        send(signal.SIGTERM)
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
