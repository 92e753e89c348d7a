"""The learning rate `polynomial`: `poly` with the defaults of slim's image classifier."""

from __future__ import annotations

import dataclasses

from tf_frame.config import option
from tf_frame.learning_rates.poly import Poly


class Polynomial(Poly):
    """`(learning_rate - end) * (1 - step / decay_steps) ^ power + end`, with slim's defaults."""

    @dataclasses.dataclass(frozen=True)
    class Params(Poly.Params):
        """Options of the schedule; slim's defaults of power and end.

        Source: research/slim/train_image_classifier.py. slim decays over two epochs; here
        the decay takes all of training unless `decay_epochs` or `decay_steps` is given.
        """

        power: float = option(1.0, "exponent; 1: linear, above 1: steep at first", min=0)
        end_learning_rate: float = option(1e-4, "learning rate after the decay", min=0)
