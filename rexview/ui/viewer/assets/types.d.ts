// Types shared by the viewer's modules. The page's data are made in viewer/case_payload.py, the
// header
// of pixels in imaging/encode.py.

import type { TurningData } from "../../turning/assets/types.d.ts";

export type Point = [x: number, y: number];
export type Size = { width: number; height: number };
/** CSS pixels of one pane. */
export type Rect = Size & { x: number; y: number };

export type Edge = "left" | "right" | "top" | "bottom";
/** Letters of DICOM at the edges of the stored image; null is unknown. */
export type Edges = Record<Edge, string | null>;
export type Stored = Edges & { known: boolean; source: string | null };

export type PixelLink = { url: string | null; key: string };
export type View = PixelLink & {
  id: string;
  title: string;
  word: string;
  frontal: boolean;
  prior: boolean;
  kind: "image" | "returned";
  group: string | null;
  error: string | null;
  orientation: Stored;
  /** The image is stored mirrored, against the edges in its file, according to the case. */
  flipped?: boolean;
  /** Pixel spacing at the detector from the set, for a file without one. */
  pixel_mm?: number | null;
};
/** Pixels of the stored image. */
export type Box = Rect & {
  id: string;
  image: string;
  label: string;
  side: string | null;
  place: string | null;
  score: number | null;
  note: string | null;
  finding: string | null;
  flags?: string[];
};
export type Group = {
  id: string;
  name: string;
  colour: string;
  kind: "model" | "reference";
  key: string | null;
  /** The label at the boxes in place of the key. */
  tag?: string;
  boxes: Box[];
  undrawable: number;
  reasons: string[];
  shown: boolean;
};
/** Boxes that remain highlighted, and the groups that were shown for them. */
export type Pinned = { key: string; isLit: (box: Box) => boolean; revealed: Group[] };
export type Direction = "next" | "previous";
export type ViewerData = {
  case: string;
  active: string | null;
  height: string | null;
  views: View[];
  groups: Group[];
  neighbours: Record<Direction, string | null>;
  takenKeys?: string;
  blinded?: boolean;
  oneGroup?: boolean;
  pageKeys?: [key: string, meaning: string][];
  ahead?: ViewerData[];
  turning?: TurningData;
};

export type Spacing = {
  row_mm: number;
  col_mm: number;
  at: string;
  note: string | null;
  /** Of a calibration by hand. */
  length_mm?: number;
  length_px?: number;
};
export type Header = Size & {
  format: "u8" | "u16" | "rgb8";
  aspect: number;
  scale: number;
  offset: number;
  invert: boolean;
  presentation: string | null;
  presets: Window[];
  initial: number;
  spacing: Spacing | null;
  orientation: Stored;
  bits: number;
  frames: number;
  warnings: string[];
};
export type Codes = Uint8Array | Uint16Array;
/** One size of an image: a pixel covers `factor` pixels of the stored image. */
export type Level = Size & { codes: Codes; factor: number };
export type Raster = {
  header: Header;
  colour: boolean;
  codeCount: number;
  levels: Level[];
  bytes: number;
};

/** The name is null if a reader chose the numbers. */
export type Window = {
  name: string | null;
  kind: string;
  centre: number;
  width: number;
  table?: { first: number; values: string };
};
/** The window in an address: numbers, or a preset by its name. */
export type WantedWindow = { centre?: number; width?: number; preset?: string };
export type Pose = { zoom: number; x: number; y: number; orientation: number };
export type Look = {
  pose: Pose;
  window: Window | null;
  inverted: boolean;
  wanted: WantedWindow | null;
};
/** The state in an address; groups null means the usual ones. */
export type Seen = {
  caseId: string;
  active: string | null;
  views: { id: string; pose: Pose; window: WantedWindow | null; inverted: boolean }[];
  groups: string[] | null;
  linked: boolean;
};

/** What was found burned into an image: cells of `size` pixels of the stored image. */
export type BurnedIn = { cells: Uint8Array; across: number; down: number; size: number };
export type Drag = {
  move: (x: number, y: number, dx: number, dy: number) => void;
  end: (cancelled: boolean, pressed?: boolean) => void;
};
export type SegmentKind = "ruler" | "heart" | "thorax";
/** A measured line, ends in pixels of the stored image; `axis` restricts a width to one axis. */
export type Segment = { kind: SegmentKind; ends: [Point, Point]; axis: "x" | "y" | null };
export type Scale = { mm: number; px: number };
