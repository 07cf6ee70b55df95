"""What every format, each in its own way, must keep to itself and must carry along."""

import base64
import io
import re
import zipfile
import zlib

import numpy as np
import polars as pl
import pytest
from pypdf import PdfReader
from support.exports.dicom_files import PATIENT, write_dicom
from support.exports.exported_set import exported, write_exported_set

from rexview.export.export_formats import EXPORT_FORMATS
from rexview.export.export_job import ExportProgress, write_export
from rexview.export.export_request import ExportRequest

REAL = ("ACC-77001", "Northfield", "one.png", "My secret note")
HEADER = (PATIENT, "HEADER-ID-4711", "Header Hospital")
"""What stands in the header of the DICOM file and nowhere in the set."""
_DATA = re.compile(rb"[A-Za-z0-9+/]{64,}={0,2}")


def content_of(name, raw):
    """Yield the bytes of a file, unpacked as far as text may be packed in it."""
    yield raw
    if zipfile.is_zipfile(io.BytesIO(raw)):
        with zipfile.ZipFile(io.BytesIO(raw)) as packed:
            for one in packed.namelist():
                yield one.encode()
                yield from content_of(one, packed.read(one))
    if name.endswith(".pdf"):
        reader = PdfReader(io.BytesIO(raw))
        yield "\n".join(page.extract_text() for page in reader.pages).encode()
        yield str(reader.metadata).encode()
    if name.endswith(".parquet"):
        yield str(pl.read_parquet(io.BytesIO(raw)).rows()).encode()
    if name.endswith(".html"):
        for found in _DATA.findall(raw):
            data = base64.b64decode(found + b"=" * (-len(found) % 4))
            yield data
            for bits in (15, -15):
                try:
                    yield zlib.decompress(data, bits)
                except zlib.error:
                    continue


def everything_in(path):
    files = [path] if path.is_file() else sorted(path.rglob("*"))
    parts = [str(file.relative_to(path.parent)).encode() for file in files]
    for file in files:
        if file.is_file():
            parts += content_of(file.name, file.read_bytes())
    return b"\n".join(parts)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = write_exported_set(tmp_path_factory.mktemp("shared") / "set")
    cases = (made / "cases.jsonl").read_text("utf-8")
    assert '"missing.png"' in cases
    cases = cases.replace('"missing.png"', '"film.dcm"')
    (made / "cases.jsonl").write_text(cases, encoding="utf-8")
    levels = np.tile(np.arange(100, dtype=np.uint16) * 40, (120, 1))
    said = {"PatientID": HEADER[1], "InstitutionName": HEADER[2], "BurnedInAnnotation": "YES"}
    write_dicom(made / "images", levels, name="film.dcm", BitsStored=12, **said)
    return made


@pytest.mark.parametrize("name", EXPORT_FORMATS)
def test_with_pseudonyms_nothing_real_is_left(folder, tmp_path, name):
    form = EXPORT_FORMATS[name]
    content, _ = exported(folder, ExportRequest(meeting="m1"), pseudonyms=True)
    out = tmp_path / f"out{form.ending}"
    write_export(content, form, out, ExportProgress())
    found = everything_in(out)
    for real in (*REAL, *HEADER, str(folder.parent)):
        assert real.casefold().encode() not in found.lower(), real
    assert b"case-002" in found


@pytest.mark.parametrize("name", EXPORT_FORMATS)
def test_no_path_and_no_private_note_but_the_notice(folder, tmp_path, name):
    form = EXPORT_FORMATS[name]
    content, _ = exported(folder)
    out = tmp_path / f"out{form.ending}"
    write_export(content, form, out, ExportProgress())
    found = everything_in(out)
    for secret in (str(folder.parent), "My secret note", *HEADER):
        assert secret.encode() not in found, secret
    notice = b"Made for a test."
    assert notice in found or b"Made for a test" in found.replace(b"\n", b" ")
