"""The documents of this repository, and what is needed to follow them as a reader does.

`blocks` finds the code in them, `plan` says what each block needs, `reader` runs the blocks of a
document in order in one folder, and `output` compares what a document shows with what was printed.
"""
