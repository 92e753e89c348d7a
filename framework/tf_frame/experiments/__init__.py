"""Experiments: two variants of a training that take turns, so that a busy machine slows both alike.

with Trial(without, folder) as baseline, Trial(with_change, folder) as variant:
    comparison = compare(baseline, variant, secs=60)
comparison.ratio.low > 1      the variant is faster, whatever else the machine does
comparison.losses.difference  0: both compute the same numbers
"""
