// Failed credentials of one IP address: which calls are refused, for how long, and which still pass.
import test from 'ava';
import { Failure } from '../../kernel/errors.ts';
import { silentLog } from '../../test/services/harness.ts';
import { createCredentialFailures } from './failed-credentials.ts';
import { RateLimiter } from './calls-per-second.ts';

const perSecond = 3;
const address = '192.0.2.1';
const refusal = new Failure('unauthorized', 'The API key is unknown or was revoked.');

function start() {
  const time = { nowMs: 1_800_000_000_500 };
  const nowMs = () => time.nowMs;
  const seconds = new RateLimiter({ redis: undefined, gateways: () => 1, log: silentLog, nowMs });
  const clock = { now: () => new Date(time.nowMs) };
  return { time, failures: createCredentialFailures({ rateLimiter: seconds, perSecond, clock }) };
}

test('an IP address over the limit is refused without a lookup until the second ends', (t) => {
  const { time, failures } = start();
  for (let i = 0; i < perSecond; i += 1) t.is(failures.failed(address, `key ${i}`, refusal), refusal);
  t.notThrows(() => failures.admit(address, 'a key'));
  const limited = failures.failed(address, 'a key', refusal);
  t.like(limited, { code: 'rate_limited', headers: { 'retry-after': '1' } });
  t.throws(() => failures.admit(address, 'a key'), { message: /may send 3 a second/ });
  t.notThrows(() => failures.admit('192.0.2.2', 'a key'), 'another address');
  time.nowMs += 499;
  t.throws(() => failures.admit(address, 'a key'));
  time.nowMs += 1;
  t.notThrows(() => failures.admit(address, 'a key'));
  t.is(failures.failed(address, 'a key', refusal), refusal);
});

test('a credential that was accepted before still passes from a refused address, until it fails itself', (t) => {
  const { failures } = start();
  failures.accepted('good');
  for (let i = 0; i <= perSecond; i += 1) failures.failed(address, undefined, refusal);
  t.throws(() => failures.admit(address, 'other'));
  t.notThrows(() => failures.admit(address, 'good'));
  t.like(failures.failed(address, 'good', refusal), { code: 'rate_limited' });
  t.throws(() => failures.admit(address, 'good'));
});

test('a clock that is set back locks no address out', (t) => {
  const { time, failures } = start();
  for (let i = 0; i <= perSecond; i += 1) failures.failed(address, undefined, refusal);
  time.nowMs -= 3_600_000;
  t.notThrows(() => failures.admit(address, 'a key'));
});
