"""`WeightsConformance`: the suite for weights."""

from __future__ import annotations

import tempfile

from tf_frame.checkpoint.find.reader import Checkpoint
from tf_frame.plugin.kinds import WEIGHTS
from tf_frame.plugin.load import load_network
from tf_frame.testing.conformance.outcomes import fails_as
from tf_frame.testing.conformance.suite import Conformance
from tf_frame.weights import store
from tf_frame.weights.structure import missing_variables, network_variables

_FACTS = ("about", "network", "licence", "origin")


class WeightsConformance(Conformance):
    """The checks of weights; they download nothing."""

    kind = WEIGHTS

    def test_says_what_the_values_are(self) -> None:
        """It tells network, licence and origin, and a name for each class or none."""
        weights = self.made_plugin()
        missing = [name for name in _FACTS if not getattr(weights, name)]
        assert not missing, f"{', '.join(missing)} is empty; users decide by it"
        with fails_as(f"the network {weights.network} cannot be loaded"):
            load_network(weights.network)
        names = weights.class_names()
        assert len(names) in (0, weights.num_classes), (
            f"there are {len(names)} names for {weights.num_classes} classes; give one for each, "
            "in the order of the logits, or none"
        )

    def test_the_file_can_be_checked(self) -> None:
        """The package has the file; or it has an https address, and size and hash if verified."""
        weights = self.made_plugin()
        file = weights.file()
        if file.package:
            with fails_as("the values cannot be read"):
                self.values()
            return
        assert file.url.startswith("https://"), (
            f"the address is {file.url!r:.80}; give one that begins with https://, or a package"
        )
        known = file.size is not None and file.sha256 is not None
        assert known or not weights.verified, (
            "verified is True, but size or sha256 of the file are None; record them, or set it to "
            "False"
        )

    def test_the_network_has_the_values(self) -> None:
        """Every variable of the model, or of the backbone, is among the values."""
        weights = self.made_plugin()
        if not weights.file().package:
            return  # Nothing is downloaded.
        missing = missing_variables(network_variables(weights), self.values())
        assert not missing, (
            f"{len(missing)} variables of the network {weights.network} have no value, or one of "
            f"another shape, such as {missing[0]}; name the network that was trained"
        )

    @classmethod
    def values(cls) -> Checkpoint:
        """Returns the values of a package, as a checkpoint in a cache of the check."""

        def read() -> Checkpoint:
            with tempfile.TemporaryDirectory() as folder:
                weights = cls.made_plugin()
                return Checkpoint(store.cache_weights("checked", weights, cache=folder))

        return cls.kept("values", read)
