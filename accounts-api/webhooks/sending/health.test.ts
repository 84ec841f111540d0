// The schedule of a message, and the health of an endpoint, by a clock that is only computed with.
import test from 'ava';
import { healthAfter, outcomeOf, retryDelaysMs, type Health } from './health.ts';
import type { Sent } from './send.ts';

const start = Date.parse('2026-11-20T10:00:00Z');
const [second, hour, day] = [1000, 3_600_000, 86_400_000];
const answered = (status: number, retryAfter?: string): Sent => ({
  status,
  error: null,
  response: '',
  retryAfter,
});
const silent: Sent = { status: null, error: 'timeout' };
const healthy: Health = { failingSince: null, lastFailedAt: null, throttledUntil: null };

function delayMs(sent: Sent, failures: number, random = 0.5): number | null {
  const { dueAt } = outcomeOf({ at: new Date(start), sent, failures }, random);
  return dueAt && dueAt.getTime() - start;
}

test('a message is tried ten times, with the waits of Standard Webhooks between: 75 h 35 min 5 s', (t) => {
  const waits = ['5 s', '5 min', '30 min', '2 h', '5 h', '10 h', '14 h', '20 h', '24 h'].map((text) => {
    const [amount = '', unit = ''] = text.split(' ');
    return Number(amount) * { s: 1, min: 60, h: 3600 }[unit as 's' | 'min' | 'h'] * second;
  });
  t.deepEqual([...retryDelaysMs], waits);
  t.is(
    retryDelaysMs.reduce((sum, each) => sum + each, 0),
    ((75 * 60 + 35) * 60 + 5) * second,
  );
  for (const [failures, wait] of waits.entries()) t.is(delayMs(answered(500), failures), wait);
  t.deepEqual(outcomeOf({ at: new Date(start), sent: silent, failures: 9 }, 0.5), {
    status: 'failed',
    dueAt: null,
  });
});

test('a wait varies by up to ten percent either way, so that messages that failed together are not resent together', (t) => {
  t.is(delayMs(silent, 1, 0), 270 * second);
  t.is(delayMs(silent, 1, 1), 330 * second);
});

test('only 2xx is a success: redirects and everything else are failures', (t) => {
  for (const status of [200, 201, 204, 299]) {
    t.is(outcomeOf({ at: new Date(start), sent: answered(status), failures: 0 }, 0.5).status, 'delivered');
  }
  for (const status of [300, 301, 302, 304, 307, 308, 400, 404, 500, 503, 999]) {
    t.is(outcomeOf({ at: new Date(start), sent: answered(status), failures: 0 }, 0.5).status, 'pending');
  }
});

test('Retry-After makes a wait longer, in seconds or as a date, by a day at most, and never shorter', (t) => {
  t.is(delayMs(answered(503, '60'), 0), 60 * second);
  t.is(delayMs(answered(503, '1'), 1), 300 * second);
  t.is(delayMs(answered(503, 'Fri, 20 Nov 2026 10:10:00 GMT'), 0), 600 * second);
  t.is(delayMs(answered(503, 'Fri, 20 Nov 2020 10:10:00 GMT'), 0), 5 * second);
  t.is(delayMs(answered(429, '999999999'), 0), day);
  for (const text of ['soon', '-5', '', '1e9', '99999999999999999999']) {
    t.is(delayMs(answered(503, text), 0), 5 * second, text);
  }
});

test('410 ends the message at once and disables its endpoint', (t) => {
  t.is(outcomeOf({ at: new Date(start), sent: answered(410), failures: 0 }, 0.5).status, 'failed');
  t.is(healthAfter(healthy, { at: new Date(start), sent: answered(410) }).disable, 'gone');
});

/** The states of an endpoint after failures at these hours. */
function after(hours: readonly number[], sent: Sent = silent) {
  let state = { ...healthy, disable: null as 'failing' | 'gone' | null };
  const disabled: number[] = [];
  for (const each of hours) {
    state = healthAfter(state, { at: new Date(start + each * hour), sent });
    if (state.disable !== null) disabled.push(each);
  }
  return { state, disabled };
}

test('an endpoint is disabled once every attempt of five days has failed, and not before', (t) => {
  t.deepEqual(after([0, 24, 48, 72, 96, 119.9]).disabled, []);
  t.deepEqual(after([0, 24, 48, 72, 96, 120]).disabled, [120]);
  t.deepEqual(after([0, 0.1, 0.2]).disabled, []);
});

test('a success, or two days without an attempt, restarts the five days', (t) => {
  const { state } = after([0, 40, 80]);
  const recovered = healthAfter(state, { at: new Date(start + 100 * hour), sent: answered(200) });
  t.like(recovered, healthy);
  t.is(healthAfter(recovered, { at: new Date(start + 130 * hour), sent: silent }).disable, null);
  t.deepEqual(after([0, 200]).disabled, [], 'one failure, and another a week later');
  t.deepEqual(after([0, 49, 90, 130, 168]).disabled, []);
  t.deepEqual(after([0, 49, 90, 130, 169]).disabled, [169]);
});

test('429, 502 and 504 pause the endpoint for the time of Retry-After, at most an hour', (t) => {
  const waits = (sent: Sent) => {
    const { throttledUntil } = healthAfter(healthy, { at: new Date(start), sent });
    return throttledUntil && throttledUntil.getTime() - start;
  };
  for (const status of [429, 502, 504]) t.is(waits(answered(status)), 30 * second);
  t.is(waits(answered(429, '120')), 120 * second);
  t.is(waits(answered(429, '86400')), hour);
  for (const sent of [answered(500), answered(503, '120'), answered(400), silent]) t.is(waits(sent), null);
  const throttled = { ...healthy, throttledUntil: new Date(start + hour) };
  t.deepEqual(
    healthAfter(throttled, { at: new Date(start), sent: answered(429) }).throttledUntil,
    throttled.throttledUntil,
  );
});
