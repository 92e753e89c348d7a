"""Who this process is among those that train together."""

from tf_frame.cluster.cluster import Cluster, cluster_of

__all__ = ["Cluster", "cluster_of"]
