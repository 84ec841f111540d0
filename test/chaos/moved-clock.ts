// Preloaded into the gateways and data-apis of the chaos run: their `Date` is the machine's, moved by what the file CHAOS_CLOCK says in
// the moment of each read, as a clock that is set steps between two reads.
// It moves whatever the project reads of a clock: identity tokens, releases, the validity of answers, quota months, log lines. It does
// not move performance.now() and timers, which a set clock does not move either; nor PostgreSQL, Redis, accounts-api and the workers,
// nor the `date` header, which Node reads inside.
import { openSync, readSync } from 'node:fs';

const RealDate = Date;
const file = openSync(process.env['CHAOS_CLOCK'] ?? '', 'r');
const offsetMs = new Float64Array(1);

function now(): number {
  readSync(file, offsetMs, 0, 8, 0);
  return RealDate.now() + (offsetMs[0] ?? 0);
}

globalThis.Date = new Proxy(RealDate, {
  apply: () => new RealDate(now()).toString(),
  construct: (target, words, made) =>
    Reflect.construct(target, words.length === 0 ? [now()] : words, made === Date ? target : made) as object,
  get: (target, name) => (name === 'now' ? now : (Reflect.get(target, name) as unknown)),
});
