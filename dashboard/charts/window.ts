// The part of a list of dates that a chart shows.

/** Positions in the list of dates, both inclusive. */
export interface Window {
  first: number;
  last: number;
}
