"""The images of a case as the viewer shows them, without boxes and answers."""

from __future__ import annotations

from rexview.errors import ImageError, PathEscape
from rexview.reviewset.image_files import KnownImage
from rexview.schema import ReviewSet
from rexview.ui.access.image_links import image_name, pixel_url
from rexview.ui.viewer.payload import PixelLink, ViewerImage
from rexview.vocab import VIEWS
from rexview.words import tr


def pixel_link(review_set: ReviewSet, path: str, *, wordless: bool = False) -> PixelLink:
    """Return the link to the pixels of an image; ``wordless`` as :func:`pixel_url` takes it.

    Raises
    ------
    ImageError, PathEscape
    """
    url = pixel_url(review_set, path, wordless=wordless)
    return PixelLink(url, image_name(review_set, path))


def shown_image(review_set: ReviewSet, known: KnownImage) -> ViewerImage:
    """Return an image of a case as the viewer shows it, or the reason why it cannot be shown."""
    image = known.image
    title = VIEWS.get(image.view, image.view)
    if image.prior:
        title = tr("Prior, {view}").format(view=title)
    try:
        pixels = pixel_link(review_set, image.path)
    except (ImageError, PathEscape) as error:
        return ViewerImage(image.id, title, image.view, error=str(error), prior=image.prior)
    return ViewerImage(
        image.id,
        title,
        image.view,
        pixels,
        prior=image.prior,
        orientation=known.orientation,
        flipped=bool(image.laterality_flip),
        pixel_mm=image.pixel_mm,
    )
