// How many random histories are tried: AS_OF_RUNS=200 tries more, AS_OF_SEED=number others, AS_OF_REPLAY=seed/path one again.
// A history takes half a minute on a busy machine: more of them need `--timeout=60m`.
import type fc from 'fast-check';

const replay = /^(-?\d+)\/([\d:]+)$/.exec(process.env['AS_OF_REPLAY'] ?? '');
const numRuns = Number(process.env['AS_OF_RUNS'] ?? 4);
export const howLong: fc.Parameters<unknown> = {
  includeErrorInReport: true,
  ...(replay === null
    ? { seed: Number(process.env['AS_OF_SEED'] ?? 20_240_418), numRuns, endOnFailure: true }
    : { seed: Number(replay[1]), path: replay[2] ?? '', numRuns: 1 }),
};
