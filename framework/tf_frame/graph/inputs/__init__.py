"""The input pipeline in the graph, and the position in it."""
