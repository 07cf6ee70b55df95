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
    y = np.linspace(-1, 1, height, dtype=np.float32)[:, None]
    x = np.linspace(-1, 1, width, dtype=np.float32)[None, :]
    apart, wide, tall, heart = random.uniform((0.36, 0.2, 0.5, 0.1), (0.46, 0.28, 0.66, 0.3))
    lungs = _bell((np.abs(x) - apart) / wide, 4) * _bell(y / tall, 4)
    shadow = _bell((x - 0.15) / (0.2 + heart), 2) * _bell((y - 0.35) / 0.3, 2)
    down, across = 18 * y + np.float32(random.uniform(0, 6)), 6 * np.abs(x)
    waves = np.sin(down) * np.cos(across) + np.cos(down) * np.sin(across)  # sin(down + across)
    ribs = np.clip(waves, 0.6, 1) - 0.6
    grey = 2600 - 1900 * lungs + 900 * shadow + 500 * ribs + 200 * y
    noise = 12 * random.standard_normal(grey.shape, dtype=np.float32)
    drawn: NDArray[np.uint16] = np.clip(grey + noise, 0, DEPTH).astype(np.uint16)
    return drawn


def _bell(values: NDArray[np.float32], power: int) -> NDArray[np.float32]:
    bell: NDArray[np.float32] = np.exp(-(values**power)).astype(np.float32)
    return bell
