// How many random histories are tried: AS_OF_RUNS=200 tries more, AS_OF_REPLAY=seed/path one again.
import type fc from 'fast-check';

const replay = /^(-?\d+)\/([\d:]+)$/.exec(process.env['AS_OF_REPLAY'] ?? '');
export const howLong: fc.Parameters<unknown> = {
  includeErrorInReport: true,
  ...(replay === null
    ? { seed: 20_240_418, numRuns: Number(process.env['AS_OF_RUNS'] ?? 10), endOnFailure: true }
    : { seed: Number(replay[1]), path: replay[2] ?? '' }),
};
