"""`BuiltModel`: base of the suite for models; builds each graph once for all checks."""

from __future__ import annotations

import unittest
from collections.abc import Sequence
from typing import Any, ClassVar

from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.errors import NoDataError
from tf_frame.graph.inputs.pipeline import make_batches
from tf_frame.plugin import InputContext, Mode
from tf_frame.plugin.kinds import INPUT, MODEL
from tf_frame.plugin.needs import check_declared
from tf_frame.testing.conformance.batch_sizes import Regrouped
from tf_frame.testing.conformance.model_graphs import ModelGraphs, Training, model_setup
from tf_frame.testing.conformance.outcomes import reported_by, usable_here
from tf_frame.testing.conformance.resumed_training import ResumedTraining, train_and_resume
from tf_frame.testing.conformance.suite import Conformance, load_class

_CLONES = (1, 2, 3)


class BuiltModel(Conformance):
    """Builds the graphs of a model when checks need them.

    Attributes:
      input: the name or the class of an input that replaces the model's default input.
    """

    kind = MODEL
    input: ClassVar[Any] = None

    @classmethod
    def _configured(cls) -> Any:
        """Returns the model with its input and all options of a run."""
        source, options = None, dict(cls.options)
        if isinstance(cls.input, str):
            options = {"input": cls.input, **options}
        elif cls.input is not None:
            source = load_class(INPUT, cls.input)
        setup = model_setup(cls.imported(), source, options)
        if setup.input is not None:
            check_declared(cls.imported(), setup.input.plugin)
        return setup

    @classmethod
    def graphs(cls) -> ModelGraphs:
        """Returns the builder of graphs.

        Raises:
          SkipTest: the input has no data here, or the model cannot be constructed.
        """

        def make() -> ModelGraphs:
            cls.loaded()
            setup = cls.configured()
            with usable_here("the input that a model needs"):
                return ModelGraphs(setup, setup.make_input())

        return cls.kept("graphs", make)

    @classmethod
    def training(cls) -> Training:
        """Returns the training graph of one clone."""
        graphs = cls.graphs()
        return cls.kept("training", graphs.training)

    def training_or_skip(self) -> Training:
        """Returns the training graph of one clone.

        Raises:
          SkipTest: the graph cannot be built; another check reports that.
        """
        with reported_by("test_builds_twice_in_fresh_graphs"):
            return self.training()

    @classmethod
    def evaluation(cls) -> tuple[Any, Any]:
        """Returns the evaluation graph, and the output of `build`.

        Raises:
          SkipTest: the input has no evaluation data.
        """

        def make() -> Any:
            try:
                return cls.graphs().evaluation(cls.evaluation_source())
            except NoDataError as error:
                raise unittest.SkipTest(f"the input has no evaluation data: {error}") from error

        graph_and_output: tuple[Any, Any] = cls.kept("evaluation", make)
        return graph_and_output

    @classmethod
    def evaluation_source(cls) -> Regrouped:
        """Returns the input of the evaluation graph."""
        source = cls.graphs().source
        return cls.kept("evaluation source", lambda: Regrouped(source))

    @classmethod
    def resumed_training(cls) -> ResumedTraining:
        """Returns a short training, saved and continued."""
        return cls.kept("resumed training", lambda: train_and_resume(cls.training().graph))

    @classmethod
    def on_servers(cls, count: int) -> list[Any]:
        """Returns the global variables of clones with two parameter servers.

        Args:
          count: number of clones.
        """
        graphs = cls.graphs()
        return cls.kept(f"{count} clones", lambda: graphs.clones(count, servers=True))

    def clone_counts(self, *, reports: bool) -> Sequence[int]:
        """Returns the numbers of clones to build the model with.

        Args:
          reports: whether the caller reports clones that cannot be built; otherwise the result
            lacks their numbers.

        Raises:
          SkipTest: the training graph of one clone cannot be built; or the model trains with one
            clone only, and the caller reports.
        """
        training = self.training_or_skip()
        declared = {**getattr(self.loaded().cls, "check_options", {}), **self.options}
        single = training.output.train_op is not None or declared.get("num_clones") == 1
        if single and reports:
            raise unittest.SkipTest("the model declares that it trains with one clone only")
        counts = _CLONES[:1] if single else _CLONES
        return counts if reports else [count for count in counts if self._builds(count)]

    def _builds(self, count: int) -> bool:
        try:
            return bool(self.on_servers(count))
        except Exception:  # `test_clones_share_all_variables` reports it.
            return False

    @classmethod
    def features(cls) -> Any:
        """Makes features of training data in the default graph."""
        context = InputContext(batch_size=cls.graphs().setup.config.train_batch_size)
        batches = make_batches(
            cls.graphs().source, Mode.TRAIN, context, DeploymentConfig(clone_on_cpu=True)
        )
        return batches[0][0]
