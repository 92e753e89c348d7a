"""The tasks that train together, and the task of this process."""

from tf_frame.cluster.cluster import Cluster, cluster_of, wait_for_server

__all__ = ["Cluster", "cluster_of", "wait_for_server"]
