"""Evaluation of detections: average precision, metrics of a graph, pictures and files."""
