// The preview of a table before it is loaded: its rows as they will be served, and the choices that settle its guesses.
import type { Choice } from './resolve-guesses.ts';

export interface Inspected {
  preview: Preview;
  choices: Choice[];
}

/** Serialisable as JSON: it is sent between processes, and to operators. */
export interface Preview {
  /** The first points, some of the middle and the last, as they will be served. */
  points: PreviewPoint[];
  /** Points of the rows that were read. */
  points_read: number;
  /** Whether all rows of the file were read. */
  is_whole: boolean;
  left_out: LeftOutRows[];
  columns_left_out: { title: string; reason: string }[];
  /** The first cells that the load rejects. */
  refused: RefusedInPreview[];
  refused_count: number;
  /** Why no rows can be shown; null if they can. */
  fault: string | null;
}

export interface PreviewPoint {
  /** The line of the file. */
  line: number;
  series: string;
  dims: Record<string, string>;
  date: string;
  /** As published, with its digits; null for missing. */
  value: string | null;
  status: string | null;
  /** Null for the day of the load. */
  vintage: string | null;
}

export interface LeftOutRows {
  reason: string;
  count: number;
  examples: { line: number; text: string }[];
}

export interface RefusedInPreview {
  line: number;
  column: string;
  text: string;
  expected: string;
}
