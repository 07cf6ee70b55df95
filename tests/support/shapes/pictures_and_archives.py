"""Pictures, archives, and files that are not what their name says or cannot be read."""

import gzip
import json
import pickle
import unicodedata
import zipfile
from pathlib import Path

import numpy as np
import openpyxl
import pyarrow as pa
from PIL import Image
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.uid import ExplicitVRLittleEndian

from support.shapes.shape import (
    QUESTION,
    answer,
    csv_text,
    picture,
    picture_bytes,
    put,
    put_csv,
    put_lines,
    put_picture,
    shape,
)

COLUMNS = ["case_id", "question", "model", "answer"]
ROWS = [[f"c{n}", QUESTION, "GPT-4o", answer(n, "GPT-4o")] for n in (1, 2, 3)]
TABLE = csv_text(COLUMNS, ROWS)
THREE = {"cases": 3, "models": {"GPT-4o": 3}, "rows_in": 3}
NESTED = [{"case_id": row[0], "model": "Grok-4", "answer": row[3] + "!"} for row in ROWS]


def _dicom(path: Path, number: int, *, bare: bool) -> None:
    data = Dataset()
    data.SOPClassUID = "1.2.840.10008.5.1.4.1.1.1.1"
    data.SOPInstanceUID = f"1.2.826.0.1.3680043.8.498.77.{number}"
    data.StudyInstanceUID = f"1.2.826.0.1.3680043.8.498.7.{number}"
    data.PatientName, data.PatientID = "Invented^Ida", f"PIDX{number}"
    data.Modality, data.ViewPosition = "DX", "PA"
    data.Rows, data.Columns, data.SamplesPerPixel = 80, 60, 1
    data.PhotometricInterpretation = "MONOCHROME2"
    data.BitsAllocated, data.BitsStored, data.HighBit, data.PixelRepresentation = 16, 12, 11, 0
    data.PixelData = (np.asarray(picture()).astype("<u2") * 8).tobytes()
    data["PixelData"].VR = "OW"
    path.parent.mkdir(parents=True, exist_ok=True)
    if bare:
        data.save_as(path, implicit_vr=True, little_endian=True, enforce_file_format=False)
        return
    data.file_meta = FileMetaDataset()
    data.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
    data.file_meta.MediaStorageSOPClassUID = data.SOPClassUID
    data.file_meta.MediaStorageSOPInstanceUID = data.SOPInstanceUID
    data.save_as(path, enforce_file_format=True)


@shape("folder-of-dicom", "images", cases=3, images_found=3)
def _(folder: Path) -> None:
    _dicom(folder / "scans/ST000/IM000001", 1, bare=False)
    _dicom(folder / "scans/ST001/IM000001", 2, bare=True)
    _dicom(folder / "scans/3.DCM", 3, bare=False)


@shape("folder-of-pictures", "images", cases=6, images_found=6)
def _(folder: Path) -> None:
    for ending in ("png", "tif", "bmp", "gif", "webp"):
        put_picture(folder / f"films/{ending}.{ending}")
    turned = Image.Exif()
    turned[0x0112] = 6
    put_picture(folder / "films/turned.jpg", exif=turned)


@shape("pictures-not-named", "table", "images", **THREE, images_found=3, unread={"extra.png"})
def _(folder: Path) -> None:
    rows = [[*row, f"{row[0]}.png"] for row in ROWS]
    put_csv(folder / "answers.csv", "|".join([*COLUMNS, "image"]), *rows)
    for name in ("c1", "c2", "c3", "extra"):
        put_picture(folder / f"images/{name}.png")


@shape(
    "names-of-macos", "table", "images", cases=1, models={"GPT-4o": 1}, rows_in=1, images_found=1
)
def _(folder: Path) -> None:
    name = "Röntgen/Müller_1.png"
    put_picture(folder / unicodedata.normalize("NFD", name))
    put_csv(
        folder / "answers.csv",
        "image|question|model|answer",
        [unicodedata.normalize("NFC", name), QUESTION, "GPT-4o", answer(1, "GPT-4o")],
    )


@shape("wrong-endings", "table", "images", cases=9, models={"GPT-4o": 9}, rows_in=9, images_found=2)
def _(folder: Path) -> None:
    put(folder / "really_csv.xlsx", TABLE)
    book = openpyxl.Workbook()
    book.active.append(COLUMNS)
    for row in ROWS:
        book.active.append([row[0].replace("c", "d"), *row[1:]])
    book.save(folder / "book.xlsx")
    (folder / "book.xlsx").rename(folder / "really_excel.csv")
    put_picture(folder / "jpeg.png", format="JPEG")
    _dicom(folder / "dicom.jpg", 7, bare=False)
    images = ["jpeg.png", "dicom.jpg", None]
    rows = [
        {**dict(zip(COLUMNS, row, strict=True)), "case_id": f"e{n}", "image": images[n]}
        for n, row in enumerate(ROWS)
    ]
    put_lines(folder / "really_lines.json", rows)


@shape(
    "zip-of-macos",
    **THREE,
    images_found=3,
    unread={"CXR export.zip/CXR export/notes.docx"},
)
def _(folder: Path) -> None:
    with zipfile.ZipFile(folder / "CXR export.zip", "w") as archive:
        rows = [[*row, f"pngs/{row[0]}.png"] for row in ROWS]
        archive.writestr("CXR export/results/a.csv", csv_text([*COLUMNS, "image"], rows))
        for row in ROWS:
            archive.writestr(f"CXR export/results/pngs/{row[0]}.png", picture_bytes())
            archive.writestr(f"__MACOSX/CXR export/results/pngs/._{row[0]}.png", b"\0\5\x16\7")
        archive.writestr("CXR export/.DS_Store", b"\0\0\0\1Bud1")
        archive.writestr("CXR export/notes.docx", b"%PDF-1.4 not what it says")


@shape("zip-of-windows", cases=2, models={"GPT-4o": 2}, rows_in=2, images_found=2)
def _(folder: Path) -> None:
    lines = ["case;image;question;model;answer"]
    lines += [
        f"{n};Bilder\\Film_{n}.png;Was fällt auf?;GPT-4o;Es zeigt sich ein Erguss links, {n}."
        for n in (1, 2)
    ]
    with zipfile.ZipFile(folder / "Studie.zip", "w") as archive:
        for name, content in (
            ("Studie\\Liste.csv", "\r\n".join(lines).encode("cp1252")),
            *((f"Studie\\Bilder\\Film_{n}.png", picture_bytes()) for n in (1, 2)),
        ):
            member = zipfile.ZipInfo("x")
            member.filename = name
            archive.writestr(member, content)


@shape("gzip-and-zip", cases=3, models={"GPT-4o": 3, "Grok-4": 3}, rows_in=6)
def _(folder: Path) -> None:
    lines = "".join(json.dumps(dict(zip(COLUMNS, row, strict=True))) + "\n" for row in ROWS)
    put(folder / "gpt4o.jsonl.gz", gzip.compress(lines.encode()))
    with zipfile.ZipFile(folder / "grok.zip", "w") as archive:
        archive.writestr("out/grok.json", json.dumps(NESTED))


@shape("zip-that-leads-out", **THREE, unread={"../../escaped.csv"})
def _(folder: Path) -> None:
    with zipfile.ZipFile(folder / "data.zip", "w") as archive:
        archive.writestr("answers.csv", TABLE)
        archive.writestr("../../escaped.csv", TABLE)


@shape("pickle", unread={"predictions.pkl"}, refused="can run any program")
def _(folder: Path) -> None:
    put(folder / "predictions.pkl", pickle.dumps({"c1": "Effusion."}))


@shape("json-cut-off", unread={"results.json"}, refused="breaks off")
def _(folder: Path) -> None:
    text = json.dumps([dict(zip(COLUMNS, row, strict=True)) for row in ROWS])
    put(folder / "results.json", text[: len(text) * 7 // 10])


@shape("json-lines-broken", "table", cases=2, models={"GPT-4o": 2}, rows_in=3, unused=1)
def _(folder: Path) -> None:
    lines = [json.dumps(dict(zip(COLUMNS, row, strict=True))) for row in ROWS]
    put(folder / "results.jsonl", "\n".join([lines[0], lines[1][:25], lines[2]]))


@shape("header-alone", "reports", unread={"answers.csv"}, refused="Nothing was read")
def _(folder: Path) -> None:
    put(folder / "answers.csv", "case_id,question,model,answer\n")


@shape("web-page-named-xls", unread={"export.xls"}, refused="Save what it shows")
def _(folder: Path) -> None:
    put(folder / "export.xls", "<html><body><table><tr><th>case_id</th></tr></table></body></html>")


@shape("arrow", unread={"ds/data-00000.arrow"}, refused="Parquet")
def _(folder: Path) -> None:
    table = pa.table({"case_id": ["c1"], "answer": ["Effusion."]})
    (folder / "ds").mkdir()
    with pa.ipc.new_file(folder / "ds/data-00000.arrow", table.schema) as writer:
        writer.write_table(table)
