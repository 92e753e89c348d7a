"""Cluster configuration: the tasks of a job, the task of this process, and the servers."""

from tf_frame.cluster.cluster import Cluster, wait_for_servers

__all__ = ["Cluster", "wait_for_servers"]
