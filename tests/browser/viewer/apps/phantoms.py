"""Made-up radiographs for the viewer's tests: a chest of ellipses, nobody's."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np

ROWS, COLUMNS = 1180, 1024


def chest(rows: int = ROWS, columns: int = COLUMNS, *, effusion: bool = False) -> np.ndarray:
    """Return a frontal chest, float, 0 (air) to 1, (rows, columns); patient's right on the left."""
    y, x = np.mgrid[0:rows, 0:columns].astype(np.float32)
    x, y = x / columns, y / rows

    def ellipse(cx: float, cy: float, rx: float, ry: float, soft: float = 0.12) -> np.ndarray:
        distance = np.hypot((x - cx) / rx, (y - cy) / ry)
        return 1 / (1 + np.exp((distance - 1) / soft * 2))

    picture = 0.02 + 0.72 * ellipse(0.5, 0.75, 0.47, 0.78, 0.05)
    for cx in (0.29, 0.71):
        lung = ellipse(cx, 0.44, 0.165, 0.34, 0.09)
        ribs = 0.07 * np.maximum(0, np.sin(34 * (y + 0.35 * (x - cx) ** 2 * 6) + 5 * abs(x - cx)))
        vessels = 0.05 * ellipse(0.5 + (cx - 0.5) * 0.5, 0.47, 0.12, 0.16, 0.5)
        picture = picture * (1 - lung) + lung * (0.16 + ribs + vessels)
    picture = np.maximum(picture, 0.66 * ellipse(0.5, 0.45, 0.055, 0.5, 0.2))
    picture = np.maximum(picture, 0.78 * ellipse(0.555, 0.63, 0.155, 0.145, 0.07))
    picture = np.maximum(picture, 0.8 * ellipse(0.5, 1.02, 0.5, 0.26, 0.06))
    if effusion:
        picture = np.maximum(picture, 0.74 * ellipse(0.24, 0.8, 0.13, 0.11, 0.25))
    noise = np.random.default_rng(7).normal(0, 0.008, picture.shape)
    return np.clip(picture + noise, 0, 1)


def side(rows: int = 900, columns: int = 760) -> np.ndarray:
    """Return something like a lateral chest, float, 0 to 1, (rows, columns)."""
    y, x = np.mgrid[0:rows, 0:columns].astype(np.float32)
    x, y = x / columns, y / rows
    body = np.exp(-(((x - 0.5) / 0.42) ** 6) - ((y - 0.6) / 0.6) ** 6)
    lung = np.exp(-(((x - 0.5) / 0.27) ** 4) - ((y - 0.45) / 0.32) ** 4)
    heart = np.exp(-(((x - 0.4) / 0.14) ** 4) - ((y - 0.62) / 0.14) ** 4)
    spine = np.exp(-(((x - 0.78 + 0.05 * y) / 0.05) ** 4))
    return np.clip(0.7 * body - 0.5 * lung + 0.3 * heart + 0.2 * spine * body, 0, 1)


def preset(name: str, centre: float, width: float, kind: str = "linear_exact") -> dict[str, Any]:
    """Return one preset of the payload's header."""
    return {"name": name, "kind": kind, "centre": centre, "width": width, "table": None}


def payload(codes: np.ndarray, **header: Any) -> bytes:
    """Pack an image as the server does (rexview/imaging/encode.py)."""
    rows, columns = codes.shape[:2]
    kind = "rgb8" if codes.ndim == 3 else "u16" if codes.dtype == np.uint16 else "u8"
    top = float(np.iinfo(codes.dtype).max) if kind == "u8" else float(codes.max())
    whole: dict[str, Any] = {
        "version": 1,
        "width": columns,
        "height": rows,
        "format": kind,
        "scale": 1.0,
        "offset": 0.0,
        "invert": False,
        "presentation": None,
        "aspect": 1.0,
        "presets": [] if kind == "rgb8" else [preset("Full range", top / 2, top)],
        "initial": None if kind == "rgb8" else 0,
        "spacing": None,
        "orientation": None,
        "view": None,
        "bits": 12 if kind == "u16" else 8,
        "frames": 1,
        "warnings": [],
        "sha": "",
        **header,
    }
    text = json.dumps(whole).encode()
    text += b" " * (-(8 + len(text)) % 8)
    return b"RXV1" + struct.pack("<I", len(text)) + text + codes.astype(codes.dtype).tobytes()


def twelve_bit(picture: np.ndarray) -> np.ndarray:
    """Return a picture of 0 to 1 as 12-bit codes."""
    return (picture * 4095).astype(np.uint16)


def pictures() -> dict[str, bytes]:
    """Return every image of the test app by name, ready to be sent."""
    spacing = {"row_mm": 0.3, "col_mm": 0.3, "at": "detector", "note": None}
    presets = [
        preset("Normal", 1900, 3000),
        preset("Narrow", 1400, 1200, "linear"),
        preset("Sigmoid", 1800, 2400, "sigmoid"),
        preset("Auto", 1700, 3200),
    ]
    deep = {"presets": presets, "initial": 0, "spacing": spacing}
    now, before = chest(effusion=True), chest()
    rgb = np.repeat((now[::2, ::2, None] * 255).astype(np.uint8), 3, axis=2)
    rgb[380:520, 60:200, 0] = np.maximum(rgb[380:520, 60:200, 0], 210)
    ramp = np.arange(256, dtype=np.uint8)[None, :].repeat(128, axis=0)
    return {
        "pa": payload(twelve_bit(now), **deep),
        "prior": payload(twelve_bit(np.roll(before, 12, axis=1)), **deep),
        "lateral": payload((side() * 255).astype(np.uint8)),
        "returned": payload(rgb),
        "mirrored": payload(twelve_bit(now[:, ::-1]), **deep),
        "turned": payload(twelve_bit(np.rot90(now)), **deep),
        "flat": payload(ramp, aspect=2.0, presets=[preset("Full range", 127.5, 255)]),
        "ramp": payload(ramp, presets=[preset("Full range", 127.5, 255)]),
    }
