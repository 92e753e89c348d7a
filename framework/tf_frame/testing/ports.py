"""Free TCP ports for servers in tests: a fixed port may be taken by another test or program.

They are those of the launcher: a port that the system gives to outgoing connections may be taken by
one of another test before the server listens.
"""

from tf_frame.launch.ports import free_ports

__all__ = ["free_ports"]
