"""The checks of converters."""

from __future__ import annotations

import os
import tempfile

from tf_frame.errors import TfFrameError
from tf_frame.plugin.kinds import CONVERTER
from tf_frame.testing.conformance.common import Conformance
from tf_frame.testing.conformance.outcomes import in_words


class ConverterConformance(Conformance):
    """The checks of converters, without data."""

    kind = CONVERTER

    def test_refuses_a_source_that_is_missing(self) -> None:
        """A source that does not exist ends it by an error for the user, such as DataError."""
        converter = self.made_plugin()
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "missing")
            try:
                converter.convert(source, os.path.join(folder, "output"), lambda line: None)
            except TfFrameError:
                return
            except Exception as error:
                raise AssertionError(
                    f"a source that is missing ends convert() by {in_words(error)}; raise "
                    "tf_frame.errors.DataError with one line for the user"
                ) from error
        raise AssertionError(
            "convert() takes a source that is missing; raise tf_frame.errors.DataError"
        )
