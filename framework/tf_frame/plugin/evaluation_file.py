"""`EvaluationFile`: the name of a metric that is a file of an evaluation."""

from __future__ import annotations


class EvaluationFile(str):
    """The name of a file that an evaluation writes, such as `confusions.txt`.

    The metric under this name is a scalar string, the content of the file in the folder of the
    evaluation. A text, `*.txt`, is also printed by `tf-frame evaluate` and shown by TensorBoard:

        metrics[EvaluationFile("confusions.txt")] = text, update
    """

    @property
    def is_text(self) -> bool:
        """True for a text for people."""
        return self.endswith(".txt")

    @property
    def stem(self) -> str:
        """The name without the ending."""
        return self.rpartition(".")[0]
