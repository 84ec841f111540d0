// How many random histories are tried: AS_OF_RUNS=200 tries more, AS_OF_SEED=number others, AS_OF_REPLAY=seed/path one again.
import type fc from 'fast-check';

const replay = /^(-?\d+)\/([\d:]+)$/.exec(process.env['AS_OF_REPLAY'] ?? '');
const numRuns = Number(process.env['AS_OF_RUNS'] ?? 4);
/** A history takes some ten seconds on a busy machine. */
export const timeoutMs = 60_000 + numRuns * 30_000;
export const howLong: fc.Parameters<unknown> = {
  includeErrorInReport: true,
  ...(replay === null
    ? { seed: Number(process.env['AS_OF_SEED'] ?? 20_240_418), numRuns, endOnFailure: true }
    : { seed: Number(replay[1]), path: replay[2] ?? '', numRuns: 1 }),
};
