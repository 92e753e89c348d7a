"""Cluster configuration: the tasks of a job, which of them this process is, and the servers."""

from tf_frame.cluster.cluster import Cluster, wait_for_servers

__all__ = ["Cluster", "wait_for_servers"]
