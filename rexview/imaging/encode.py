"""What the browser viewer gets: a small JSON header and raw pixels, 16 bits deep.

**Transport.** :func:`pack` joins both into one response: the four bytes ``RXV1``, the header's
length in bytes as little-endian uint32, the header (UTF-8 JSON, padded with spaces so that the
body starts at a multiple of 8), the body.

**Body.** ``height * width`` codes, row by row from the top left, without padding: uint8
(``format`` ``u8``), little-endian uint16 (``u16``), or three uint8 R, G, B (``rgb8``). Rows and
columns are those of the stored image, never turned or mirrored, so boxes need no conversion.

**Header**, all keys always present, numbers finite::

    version      1
    width        columns of the body
    height       rows of the body
    format       "u8" | "u16" | "rgb8"
    scale        value = code * scale + offset is the modality-transformed value (Hounsfield
    offset       units, optical density, or simply the stored value); scale may be negative, not 0
    invert       true: the grey level is turned round after the window (MONOCHROME1)
    presentation null, or base64 of uint8: presentation LUT, see below
    aspect       height / width of one pixel on the screen (1 for square pixels): draw the picture
                 width wide and height * aspect high
    presets      list of {name, kind, centre, width, table}; empty for rgb8, otherwise the file's
                 own windows first, then "Auto" and "Full range"
    initial      index into presets; null for rgb8
    spacing      null, or {row_mm, col_mm, at: "detector" | "patient", note: text or null}: row_mm
                 is the distance of two rows (vertical), col_mm of two columns (horizontal)
    orientation  {left, right, top, bottom, source, mirrored, turned}: what the file says (letters
                 of rexview.geometry.Orientation); the case's own record, if any, wins
    view         raw ViewPosition of the file, or null
    bits         bits that the stored values use (8, 12, 16, ...)
    frames       number of frames in the file; only the first is in the body
    warnings     list of sentences for the page
    sha          hex SHA-256 of the body

**From code to grey**, in IEEE doubles, in exactly this order of operations. Colour (``rgb8``) is
drawn as it is. For everything else, with ``c`` and ``w`` the preset's (or the user's) ``centre``
and ``width`` in values::

    m = code * scale + offset

    kind "linear" (DICOM C.11.2.1.2.1, w >= 1):
        mid = c - 0.5;  half = (w - 1) / 2
        t = 0                           if m <= mid - half
        t = 1                           if m >  mid + half
        t = (m - mid) / (w - 1) + 0.5   otherwise

    kind "linear_exact" (C.11.2.1.3.2, w > 0):
        half = w / 2
        t = 0                           if m <= c - half
        t = 1                           if m >  c + half
        t = (m - c) / w + 0.5           otherwise

    kind "sigmoid" (C.11.2.1.3.1, w > 0):
        t = 1 / (1 + exp(-4 * (m - c) / w))

    ROUND = 0.500000001
    grey = floor(t * 255 + ROUND)                          without presentation LUT
    grey = presentation[floor(t * (n - 1) + ROUND)]        with one of n entries

    kind "lut" (C.11.2.1.1): table = {first, values}, values is base64 of n uint8, already scaled
    to 0-255 and with the presentation LUT, if any, already applied:
        grey = values[min(max(floor(m) - first, 0), n - 1)]

    finally, for all kinds:  if invert: grey = 255 - grey

``ROUND`` is a hair above one half so that exact ties go up whatever the last bit of ``t`` is; so
Python, JavaScript and exact arithmetic agree on every grey level (tests/data/windowing.json, made
by tools/golden_windowing.py). A "lut" preset also has ``centre`` and ``width``: where dragging
starts; a dragged window is "linear_exact" unless it began as "linear" or "sigmoid", and
``linear`` never gets narrower than 1.
"""
