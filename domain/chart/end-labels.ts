// Places the names at the ends of lines: each as near to its line as possible, none closer than 16 pixels to another.

export interface EndLabel {
  /** The position in the list of lines. */
  lineNo: number;
  text: string;
  /** The end of the line. */
  dotX: number;
  dotY: number;
  /** The middle of the text. */
  y: number;
}

export const labelGap = 16;

/**
 * The labels with their positions, from top to bottom. Labels without room are omitted, those of the last lines first.
 * @param top the highest position of a label. @param bottom the lowest.
 */
export function placeLabels(ends: readonly Omit<EndLabel, 'y'>[], top: number, bottom: number): EndLabel[] {
  const room = Math.floor((bottom - top) / labelGap) + 1;
  const labels = ends
    .slice(0, Math.max(0, room))
    .map((end) => ({ ...end, y: Math.min(bottom, Math.max(top, end.dotY)) }))
    .sort((a, b) => a.dotY - b.dotY || a.lineNo - b.lineNo);
  let highest = top;
  for (const label of labels) {
    label.y = Math.max(label.y, highest);
    highest = label.y + labelGap;
  }
  let lowest = bottom;
  for (const label of labels.toReversed()) {
    label.y = Math.min(label.y, lowest);
    lowest = label.y - labelGap;
  }
  return labels;
}
