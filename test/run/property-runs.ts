// The number of cases of the property tests of HTTP answers.

/**
 * As many as in `npm test`. The run as in production, which repeats the tests to check that the set-up changes no answer, has a third of them.
 */
export function propertyRuns(runs: number): number {
  return process.env['TEST_SET_UP'] === 'production' ? Math.ceil(runs / 3) : runs;
}
