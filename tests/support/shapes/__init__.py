"""The shapes of input of docs/importing.md, as files."""

from importlib import import_module

from support.shapes.shape import SHAPES as SHAPES

for _name in (
    *("tables", "replies", "choices_and_reports", "boxes", "scores", "pictures_and_archives"),
    *("run_logs", "metrics"),
):
    import_module(f"support.shapes.{_name}")
