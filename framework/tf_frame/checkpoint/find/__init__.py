"""Reading side: checkpoints of a folder, their contents, and their match with a graph."""
