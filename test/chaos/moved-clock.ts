// Preloaded into the gateways and data-apis of the chaos run: their `Date` is the machine's, moved by the number in the file TEST_CLOCK at
// the moment of each read, like a clock that is stepped between two reads. The file has one or two numbers: by how many ms the clock is
// ahead; and the time at which it is stopped instead, in ms since 1970, for tests with their own clock.
// It moves every time that the project reads: identity tokens, releases, the validity of answers, quota months, log lines. It does
// not move performance.now() and timers, which a set clock does not move either; nor PostgreSQL, Redis, accounts-api and the workers,
// nor the `date` header, which Node reads inside.
import { openSync, readSync } from 'node:fs';

const RealDate = Date;
const file = openSync(process.env['TEST_CLOCK'] ?? '', 'r');
const clockState = new Float64Array(2);

function now(): number {
  const bytesRead = readSync(file, clockState, 0, clockState.byteLength, 0);
  const [aheadMs = 0, standsAtMs = 0] = clockState;
  return bytesRead === clockState.byteLength ? standsAtMs : RealDate.now() + aheadMs;
}

globalThis.Date = new Proxy(RealDate, {
  apply: () => new RealDate(now()).toString(),
  construct: (target, words, made) =>
    Reflect.construct(target, words.length === 0 ? [now()] : words, made === Date ? target : made) as object,
  get: (target, name) => (name === 'now' ? now : (Reflect.get(target, name) as unknown)),
});
