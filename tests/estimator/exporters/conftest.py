import os

import pytest


class FakeEstimator:
    """Notes what is exported, and makes the folder of an export."""

    def __init__(self, model_dir):
        self.model_dir = str(model_dir)
        self.exported = []
        self.number = 1000000000

    def export_saved_model(
        self,
        export_dir_base,
        serving_input_receiver_fn,
        assets_extra=None,
        as_text=False,
        checkpoint_path=None,
    ):
        self.exported.append((serving_input_receiver_fn, assets_extra, as_text, checkpoint_path))
        self.number += 1
        path = os.path.join(export_dir_base, str(self.number))
        os.makedirs(path)
        return os.fsencode(path)


@pytest.fixture
def estimator(tmp_path):
    return FakeEstimator(tmp_path)


@pytest.fixture
def offer(estimator, tmp_path):
    """Offers an evaluation to an exporter, as `train_and_evaluate` does."""

    def offer(exporter, step=1, *, final=False, **metrics):
        return exporter.export(
            estimator=estimator,
            export_path=str(tmp_path / "export" / exporter.name),
            checkpoint_path=f"model.ckpt-{step}",
            eval_result={"global_step": step, **metrics},
            is_the_final_export=final,
        )

    return offer
