"""Turn ray integrals into the grey values of a processed digital radiograph."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

_BANDS_MM = (0.3, 0.7, 1.6, 3.5, 8.0, 18.0)
_GAINS = (1.2, 1.6, 1.5, 1.1, 0.7, 0.25)


@dataclass(frozen=True)
class Look:
    """Exposure and processing of one radiograph.

    ``quanta`` is the dose (photons in a pixel at 0.19 mm without a patient), ``scatter`` the share
    of a wide blur. ``detail`` multiplies the contrast of fine structures, ``base`` is the remaining
    large-scale contrast. ``percentiles`` and ``gamma`` set the brightness. ``cutoff`` is the share
    of the beam that a tilted grid absorbs at the right edge (negative: at the left one).
    """

    quanta: float = 45000.0
    scatter: float = 0.10
    detail: float = 1.0
    base: float = 0.62
    percentiles: tuple[float, float] = (0.8, 99.5)
    gamma: float = 1.0
    steep: float = 4.2
    cutoff: float = 0.0


def expose(path: np.ndarray, pixel_mm: float, look: Look, rng: np.random.Generator) -> np.ndarray:
    """Return the detected signal: hardening, scatter, noise, logarithm.

    Parameters
    ----------
    path : numpy.ndarray
        Line integrals of attenuation, no unit, shape (rows, columns).

    Returns
    -------
    numpy.ndarray
        float32 optical path as measured by the detector; dense is high.
    """
    beam = 0.62 * np.exp(-path) + 0.38 * np.exp(-0.86 * path)
    wide = _blur(beam, 28.0 / pixel_mm)
    if look.cutoff:
        ramp = np.linspace(0, 1, path.shape[1], dtype=np.float32)
        beam *= 1 - abs(look.cutoff) * (ramp if look.cutoff > 0 else ramp[::-1])
    beam = (1 - look.scatter) * beam + look.scatter * wide
    quanta = look.quanta * (pixel_mm / 0.19) ** 2 * beam
    noise = rng.standard_normal(path.shape, np.float32)
    noise = 0.8 * noise + 0.6 * cv2.GaussianBlur(noise, (0, 0), 0.7)  # the detector blurs a little
    quanta = np.maximum(quanta + np.sqrt(quanta) * noise, 1.0)
    return np.asarray(-np.log(quanta / (look.quanta * (pixel_mm / 0.19) ** 2)), np.float32)


def process(signal: np.ndarray, pixel_mm: float, look: Look, field: np.ndarray) -> np.ndarray:
    """Enhance fine structure, compress the rest, and map to 12 bits.

    Parameters
    ----------
    signal : numpy.ndarray
        Result of :func:`expose`.
    field : numpy.ndarray
        bool, the part of the picture that sets the brightness (exposed, inside the body).

    Returns
    -------
    numpy.ndarray
        uint16, 0 black to 4095 white.
    """
    rest = signal.astype(np.float32)
    boosted = np.zeros_like(rest)
    threshold = 0.10
    for width, gain in zip(_BANDS_MM, _GAINS, strict=True):
        smooth = _blur(rest, width / pixel_mm)
        band = rest - smooth
        boosted += band * (1 + look.detail * gain * threshold / (threshold + np.abs(band)))
        rest = smooth
    middle = float(np.median(rest[field]))
    picture = boosted + middle + look.base * (rest - middle)
    low, high = np.percentile(picture[field], look.percentiles)
    level = (picture - low) / (high - low)
    curve = 1 / (1 + np.exp(-look.steep * (level - 0.5)))
    ends = 1 / (1 + np.exp(look.steep * 0.5))
    level = np.clip((curve - ends) / (1 - 2 * ends), 0, 1) ** look.gamma
    return np.rint(level * 4095).astype(np.uint16)


def _blur(image: np.ndarray, sigma: float) -> np.ndarray:
    """Return a Gaussian blur; wide ones are computed on a reduced picture."""
    factor = max(1, int(sigma / 6))
    if factor == 1:
        return cv2.GaussianBlur(image, (0, 0), sigma, borderType=cv2.BORDER_REPLICATE)
    rows, columns = image.shape
    small_size = (max(columns // factor, 8), max(rows // factor, 8))
    small = cv2.resize(image, small_size, interpolation=cv2.INTER_AREA)
    small = cv2.GaussianBlur(small, (0, 0), sigma / factor, borderType=cv2.BORDER_REPLICATE)
    return cv2.resize(small, (columns, rows), interpolation=cv2.INTER_CUBIC)
