"""Whether pictures and sets that lie elsewhere can be fetched: one picture of each storage is."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

import polars as pl

from rexview.addresses import Address, address_of_set
from rexview.doctor.finding import Known, Said, note, ok, wrong
from rexview.errors import PathEscape, StorageError
from rexview.schema import ReviewSet


def look_at_storage(known: Known) -> Iterator[Said]:
    """Ask each storage that the set names, of those that ``remote_hosts`` allows and no other."""
    settings = known.settings
    own = address_of_set(settings.review_set)
    if own is not None:
        yield _listed(own)
    review_set = known.opened.result()
    asked: set[str] = set()
    for address in _pictures(review_set) if review_set else ():
        asked.add(address.origin)
        yield _picture(address, own, known)
    for host in settings.remote_hosts:
        if host.origin not in asked and review_set is not None:
            asked.add(host.origin)
            yield ok(host.origin, "not asked: no picture of this set lies there")
    if own is None and review_set is None and settings.remote_hosts:
        yield note("pictures", "Not asked: the set was not read.")
    elif not asked and own is None:
        yield ok("pictures", "all on this computer")


def _pictures(review_set: ReviewSet) -> Iterator[Address]:
    """Yield the first picture of the cases at each storage."""
    from rexview.reviewset.image_files import paths_of_cases
    from rexview.reviewset.images import picture_address

    seen: set[str] = set()
    origin = pl.col("path").str.extract(r"^([A-Za-z][A-Za-z0-9+.\-]+://[^/]*)").fill_null("")
    paths = paths_of_cases(review_set.cases).unique(origin, keep="first", maintain_order=True)
    for path in paths["path"]:
        try:
            address = picture_address(review_set, path)
        except PathEscape:  # the check of the set says so
            continue
        if address is not None and address.origin not in seen:
            seen.add(address.origin)
            yield address


def _picture(address: Address, own: Address | None, known: Known) -> Said:
    from rexview.remote.pictures import check_allowed, fetch, unreadable
    from rexview.remote.web import Sink

    about = address.origin
    if cannot := unreadable(address.scheme):
        return wrong(about, *cannot)
    try:
        check_allowed(address, own, known.settings)
        with tempfile.TemporaryFile() as file:
            sink = Sink(file)
            fetch(address, "", sink)
    except StorageError as error:
        return wrong(about, str(error))
    except PathEscape as error:
        return wrong(about, str(error), "Correct the address in the table of cases.")
    return ok(about, f"reached: a picture of {sink.size / 1e6:,.1f} MB was fetched")


def _listed(own: Address) -> Said:
    from rexview.remote import s3
    from rexview.remote.pictures import asking

    try:
        with asking(own):
            found = s3.listed(own, 1, deep=False)
    except StorageError as error:
        return wrong(own.origin, str(error))
    if not found.objects and not found.folders:
        return wrong(own.origin, "It has no files of this set.", "Check the address of the set.")
    return ok(own.origin, "reached: the files of the set can be listed")
