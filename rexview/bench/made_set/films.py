"""Pictures that look and compress somewhat like chest radiographs; drawn, of nobody."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

DEPTH = 4095
"""The largest grey level: 12 bits, as detectors give them."""


def film(width: int, height: int, seed: int) -> NDArray[np.uint16]:
    """Draw a 12-bit picture with two lungs, a heart, ribs and detector noise.

    Returns
    -------
    array of uint16, shape (height, width)
        Dark where rays pass, as air is on a film (MONOCHROME2). Films of different seeds differ.
    """
    random = np.random.default_rng(seed)
    y, x = np.mgrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j].astype(np.float32)
    apart, wide, tall, heart = random.uniform((0.36, 0.2, 0.5, 0.1), (0.46, 0.28, 0.66, 0.3))
    lungs = np.exp(-(((np.abs(x) - apart) / wide) ** 4) - (y / tall) ** 4)
    shadow = np.exp(-(((x - 0.15) / (0.2 + heart)) ** 2) - ((y - 0.35) / 0.3) ** 2)
    ribs = np.clip(np.sin(18 * y + 6 * np.abs(x) + random.uniform(0, 6)), 0.6, 1) - 0.6
    grey = 2600 - 1900 * lungs + 900 * shadow + 500 * ribs + 200 * y
    noise = random.normal(0, 12, grey.shape).astype(np.float32)
    drawn: NDArray[np.uint16] = np.clip(grey + noise, 0, DEPTH).astype(np.uint16)
    return drawn
