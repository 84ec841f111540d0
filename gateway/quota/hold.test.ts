import test from 'ava';
import { fakeClock } from '../../test/services/harness.ts';
import { leaseClock } from './hold.ts';

test('the clock of the leases counts a suspension, and goes on after a clock that was set forward is set back', (t) => {
  const clock = fakeClock('2026-11-20T10:00:00.000Z');
  const nowMs = leaseClock(clock);
  const startMs = nowMs();
  clock.advance(60_000); // as after a suspension
  const later = nowMs() - startMs;
  t.true(later > 59_000);
  clock.advance(4 * 86_400_000);
  const forwardMs = nowMs();
  clock.advance(-4 * 86_400_000);
  const backMs = nowMs();
  t.true(backMs >= forwardMs, 'it never goes back');
  clock.advance(60_000);
  t.true(nowMs() - backMs > 59_000, 'and does not stop until the days have passed');
});
