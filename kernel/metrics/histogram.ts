// Histograms of durations, all with the same buckets. Observing a duration takes a few additions.
import type { Sample } from './text.ts';

/** Upper bounds of the buckets, in seconds. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export interface Histogram {
  /** Counts per bucket, not cumulative; the last is for all longer durations. */
  readonly durations: number[];
  seconds: number;
}

export function newHistogram(): Histogram {
  return { durations: Array.from({ length: buckets.length + 1 }, () => 0), seconds: 0 };
}

/** Counts a duration. */
export function observe(histogram: Histogram, seconds: number): void {
  let bucket = 0;
  while (bucket < buckets.length && seconds > (buckets[bucket] as number)) bucket += 1;
  histogram.durations[bucket] = (histogram.durations[bucket] ?? 0) + 1;
  histogram.seconds += seconds;
}

/** The lines of a histogram. */
export function histogramSamples(
  labels: Readonly<Record<string, string>>,
  { durations, seconds }: Histogram,
): Sample[] {
  let sum = 0;
  const samples = durations.map((count, i): Sample => {
    sum += count;
    return { suffix: '_bucket', labels: { ...labels, le: String(buckets[i] ?? '+Inf') }, value: sum };
  });
  return [...samples, { suffix: '_sum', labels, value: seconds }, { suffix: '_count', labels, value: sum }];
}
