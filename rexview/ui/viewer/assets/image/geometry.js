// The place of a stored image's pixel on the screen, and the reverse.
//
// Image coordinates are pixels of the stored image (x right, y down, origin at the top left corner
// of the first pixel). Screen coordinates are CSS pixels of one pane. Between them are
// - the shape of a pixel: `aspect` is its height divided by its width;
// - the orientation, one of eight: bit 4 mirrors left to right first, the low two bits then turn by
//   that many quarters clockwise;
// - the pose: `zoom` relative to the fitted size, and `x`, `y`, the point of the oriented image at
//   the middle of the pane, in shares of the image's extent (0, 0 is its centre). Shares, so that a
//   pose can be applied to another image.

/** @import { Point, Pose, Size } from "../types.d.ts" */

export const UPRIGHT = 0;
export const FITTED = Object.freeze({ zoom: 1, x: 0, y: 0, orientation: UPRIGHT });

const LOWEST_ZOOM = 0.25;
const SMALLEST_PIXEL = 0.25; // CSS pixels: an image smaller than the pane can still be viewed 1:1
const LARGEST_PIXEL = 48; // CSS pixels that one image pixel may grow to
const LOWEST_TOP_ZOOM = 8; // a tiny image may still be enlarged this much

/** Rows [a, b, c, d] of the matrix of each orientation: X = a x + b y, Y = c x + d y. */
const MATRICES = Array.from({ length: 8 }, (_, orientation) => {
  let [a, b, c, d] = orientation & 4 ? [-1, 0, 0, 1] : [1, 0, 0, 1];
  for (let turn = 0; turn < (orientation & 3); turn += 1) [a, b, c, d] = [-c, -d, a, b];
  return Object.freeze([a + 0, b + 0, c + 0, d + 0]); // + 0 turns -0 into 0
});

export function matrixOf(orientation) {
  return MATRICES[orientation & 7];
}

/** The orientation that results from doing `second` after `first`. */
export function compose(first, second) {
  const [a, b, c, d] = matrixOf(first);
  const [e, f, g, h] = matrixOf(second);
  const product = [e * a + f * c, e * b + f * d, g * a + h * c, g * b + h * d];
  return MATRICES.findIndex((matrix) => matrix.every((value, place) => value === product[place]));
}

export const TURN = 1; // a quarter clockwise
export const MIRROR = 4; // left to right

/** Width and height of the oriented picture, in widths of an image pixel. */
export function extents(image, orientation) {
  const across = image.width;
  const down = image.height * image.aspect;
  return orientation & 1 ? [down, across] : [across, down];
}

export class Projection {
  /**
   * @param {Size & {aspect: number}} image stored image
   * @param {Size} port pane, CSS pixels
   */
  constructor(image, port, /** @type {Pose} */ pose) {
    this.image = image;
    this.port = port;
    this.pose = pose;
    const [across, down] = extents(image, pose.orientation);
    this.across = across;
    this.down = down;
    this.fit = Math.min(port.width / across, port.height / down);
    /** CSS pixels that one image pixel is wide. */
    this.scale = this.fit * pose.zoom;
    const [a, b, c, d] = matrixOf(pose.orientation);
    const s = this.scale;
    const t = s * image.aspect;
    const left = port.width / 2 - s * pose.x * across;
    const top = port.height / 2 - s * pose.y * down;
    const [midX, midY] = [image.width / 2, image.height / 2];
    /** Canvas order: X = m[0] x + m[2] y + m[4], Y = m[1] x + m[3] y + m[5]. */
    this.matrix = [
      a * s,
      c * s,
      b * t,
      d * t,
      left - a * s * midX - b * t * midY,
      top - c * s * midX - d * t * midY,
    ];
  }

  /** @returns {Point} */
  toScreen(x, y) {
    const m = this.matrix;
    return [m[0] * x + m[2] * y + m[4], m[1] * x + m[3] * y + m[5]];
  }

  /** @returns {Point} */
  toImage(screenX, screenY) {
    const m = this.matrix;
    const area = m[0] * m[3] - m[1] * m[2];
    const [dx, dy] = [screenX - m[4], screenY - m[5]];
    return [(m[3] * dx - m[2] * dy) / area, (m[0] * dy - m[1] * dx) / area];
  }

  /** A box of the image as a rectangle on the screen. */
  boxToScreen({ x, y, width, height }) {
    const [x0, y0] = this.toScreen(x, y);
    const [x1, y1] = this.toScreen(x + width, y + height);
    return {
      x: Math.min(x0, x1),
      y: Math.min(y0, y1),
      width: Math.abs(x1 - x0),
      height: Math.abs(y1 - y0),
    };
  }

  /** The visible part of the image: [left, top, right, bottom], within the image. */
  visible() {
    const [x0, y0] = this.toImage(0, 0);
    const [x1, y1] = this.toImage(this.port.width, this.port.height);
    const within = (value, limit) => Math.min(Math.max(value, 0), limit);
    return [
      within(Math.min(x0, x1), this.image.width),
      within(Math.min(y0, y1), this.image.height),
      within(Math.max(x0, x1), this.image.width),
      within(Math.max(y0, y1), this.image.height),
    ];
  }

  /** The zoom at which one image pixel is `size` CSS pixels wide. */
  zoomFor(size) {
    return size / this.fit;
  }

  /** The pose after zooming by `factor` with the point under (screenX, screenY) fixed. */
  zoomedAt(factor, screenX, screenY) {
    const zoom = this.limited(this.pose.zoom * factor);
    const real = zoom / this.pose.zoom;
    const dx = (screenX - this.port.width / 2) / (this.scale * this.across);
    const dy = (screenY - this.port.height / 2) / (this.scale * this.down);
    return withinPicture({
      ...this.pose,
      zoom,
      x: this.pose.x + dx * (1 - 1 / real),
      y: this.pose.y + dy * (1 - 1 / real),
    });
  }

  /** The pose after dragging the picture by (dx, dy) CSS pixels. */
  panned(dx, dy) {
    return withinPicture({
      ...this.pose,
      x: this.pose.x - dx / (this.scale * this.across),
      y: this.pose.y - dy / (this.scale * this.down),
    });
  }

  /** The pose that shows the same part of the image in another orientation. */
  oriented(orientation) {
    const [x, y] = this.toImage(this.port.width / 2, this.port.height / 2);
    const [a, b, c, d] = matrixOf(orientation);
    const [across, down] = extents(this.image, orientation);
    const [dx, dy] = [x - this.image.width / 2, (y - this.image.height / 2) * this.image.aspect];
    return {
      ...this.pose,
      orientation,
      x: (a * dx + b * dy) / across,
      y: (c * dx + d * dy) / down,
    };
  }

  /** The pose that brings a box of the image into the pane; unchanged if it is there. */
  revealing(box) {
    const rect = this.boxToScreen(box);
    const [midX, midY] = [rect.x + rect.width / 2, rect.y + rect.height / 2];
    const inside = midX > 0 && midY > 0 && midX < this.port.width && midY < this.port.height;
    return inside
      ? this.pose
      : this.panned(this.port.width / 2 - midX, this.port.height / 2 - midY);
  }

  limited(zoom) {
    const top = Math.max(LOWEST_TOP_ZOOM, LARGEST_PIXEL / this.fit);
    const lowest = Math.min(LOWEST_ZOOM, SMALLEST_PIXEL / this.fit);
    return Math.min(Math.max(zoom, lowest), top);
  }
}

/** Keep the middle of the pane on the image. */
function withinPicture(/** @type {Pose} */ pose) {
  const within = (value) => Math.min(Math.max(value, -0.5), 0.5);
  return { ...pose, x: within(pose.x), y: within(pose.y) };
}
