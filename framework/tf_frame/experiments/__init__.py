"""Experiments: two variants of a training that take turns, so that a busy machine slows both alike.

variant = Variant({"steps_per_loop": "10"})
with Trial(words) as baseline, Trial(variant.words(words)) as changed:
    comparison = compare(baseline, changed, secs=60)
comparison.verdict   faster, no gain, slower or unclear
comparison.losses    whether both compute the same numbers
"""
