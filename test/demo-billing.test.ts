// The demo of billing as its users run it.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import test from 'ava';

test('the demo of billing walks from the sign-up to the end of a subscription, prints each state, and ends with 0', (t) => {
  const script = path.join(import.meta.dirname, 'demo-billing.ts');
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
  t.is(status, 0, stderr);
  const states = stdout
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split(/ {2,}/))
    .map(([, , plan, atStripe, , service, answers]) => [plan, atStripe, service, answers].join(' '));
  t.deepEqual(states, [
    'free - none 200, 403',
    'free - none 200, 403',
    'starter active active 200, 403',
    'starter active active 200, 403',
    'starter past_due active 200, 403',
    'starter past_due active 200, 403',
    'starter past_due inactive 402, 402',
    'starter unpaid inactive 402, 402',
    'starter active active 200, 403',
    'pro active active 200, 200',
    'pro active active 200, 200',
    'free canceled none 200, 403',
    'pro active active 200, 200',
  ]);
});
