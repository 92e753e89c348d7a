"""`tf-frame profile show`: where the time of the recorded steps of a training goes."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import Any

from tf_frame.command_line.folder_command import folder_command
from tf_frame.command_line.output_file import check_file, write_text
from tf_frame.command_line.screen import complain, report
from tf_frame.config.option import Option
from tf_frame.errors import EXIT_OK
from tf_frame.profiling.profile_folders import read_recorded_run
from tf_frame.profiling.report.build_report import build_report
from tf_frame.profiling.report.contents import to_json
from tf_frame.profiling.report.proofs import read_proofs
from tf_frame.profiling.report.text import format_report
from tf_frame.profiling.report.text_tables import TABLES
from tf_frame.tensorflow_log import quiet_import

USAGE = """usage: tf-frame profile show MODEL_DIR [OPTIONS]

Shows the newest profile in MODEL_DIR: how long a step takes, where its time goes, and what would
help. Shares of operations are of wall time: while several run at once, they share it equally."""
_RUN = Option("run", str | None, None, "name of a profile in plugins/profile; none: the newest")
_TASK = Option("task", str | None, None, "task, such as worker_0; none: the first by name")
_BY = Option("by", str | None, None, "only this table, with all rows", choices=tuple(TABLES))
JSON = Option("json", bool, False, "print the report as JSON")
HTML = Option("html", str | None, None, "write the report as a page with pictures, to this file")
OPTIONS = (_RUN, _TASK, _BY, JSON, HTML)


@folder_command(name="tf-frame profile show", usage=USAGE, options=OPTIONS)
def main(folders: Sequence[str], values: Mapping[str, Any]) -> int:
    """Prints the report; returns the exit code."""
    check_file(values.get("html"))
    with quiet_import():  # A remote folder needs TensorFlow.
        run = read_recorded_run(folders[0], values.get("run"))
    # JSON is for programs, which seldom need thousands of operations of microseconds.
    limit = {} if values.get("json") else {"max_operations": None}
    built = build_report(run.profiles, run=run.name, task=values.get("task"), **limit)
    built = dataclasses.replace(built, proofs=read_proofs(folders[0], run.name))
    report(to_json(built) if values.get("json") else format_report(built, values.get("by")))
    if values.get("html"):
        from tf_frame.profiling.report.html import html_page

        page = html_page(built, os.path.basename(os.path.abspath(folders[0])))
        write_text(values["html"], page)
        complain(f"wrote {values['html']}")
    return EXIT_OK
