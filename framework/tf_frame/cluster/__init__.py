"""Cluster configuration: the tasks of a job, and which of them this process is."""

from tf_frame.cluster.cluster import Cluster, cluster_of, wait_for_server

__all__ = ["Cluster", "cluster_of", "wait_for_server"]
