"""The input pipeline in the graph, and the position of training in it."""
