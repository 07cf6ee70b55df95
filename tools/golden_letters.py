"""Write tests/data/letters: pictures of letters that the viewer's tests burn into their films.

Run ``python tools/golden_letters.py`` from the repository's root. Each picture is 255 where there
is ink, otherwise 0.
"""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np

TARGET = Path(__file__).parents[1] / "tests" / "data" / "letters"
SIDE = 1000
PICTURES = {
    "side_and_time": ("L 12:30", [(60, 900), (480, 620)]),
    "portable": ("PORTABLE", [(200, 200)]),
}
"""The text by file name, with the lower left corners."""


def main() -> None:
    """Write all pictures."""
    for name, (text, places) in PICTURES.items():
        picture = np.zeros((SIDE, SIDE), np.uint8)
        for place in places:
            cv2.putText(picture, text, place, cv2.FONT_HERSHEY_SIMPLEX, 1.2, 255, 3)
        cv2.imwrite(str(TARGET / f"{name}.png"), picture)


if __name__ == "__main__":
    main()
