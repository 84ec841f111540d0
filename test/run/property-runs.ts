// How many cases the property tests of HTTP answers try.

/**
 * As many as `npm test` tries. The run as in production, which repeats its tests to see whether the set-up changes an answer, tries a third
 * of them.
 */
export function propertyRuns(runs: number): number {
  return process.env['TEST_SET_UP'] === 'production' ? Math.ceil(runs / 3) : runs;
}
