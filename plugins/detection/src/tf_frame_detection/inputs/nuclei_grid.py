"""Tiles of the image of the input `nuclei_boxes`: rows of square tiles, of which the first train."""

# Pixels.
TILE_SIZE = 128
COLUMNS, ROWS, TRAINING_ROWS = 4, 4, 3
