"""Tiles of the image of `nuclei_boxes`: rows of square tiles; the first rows train."""

# Pixels.
TILE_SIZE = 128
COLUMNS, ROWS, TRAINING_ROWS = 4, 4, 3
