// The month in which a call is billed that was in flight when the month ended.
import { createServer } from 'node:http';
import test from 'ava';
import { closeServer, listen } from '../../kernel/http/server.ts';
import type { Plan } from '../../kernel/plans.ts';
import { fakeClock } from '../../test/services/harness.ts';
import { callOf } from '../call.ts';
import { createClients } from '../client-ip.ts';
import { calendarMonth } from '../heartbeat/calendar-month.ts';
import type { Journal } from '../heartbeat/journal.ts';
import { chargeCall, type Reservation } from '../heartbeat/month-quota.ts';
import { GatewayResponse } from '../response-headers.ts';
import { requestId } from './request-id.ts';
import { usage } from './usage.ts';

const openCall = requestId({
  clients: createClients(0, { warn: () => undefined }),
  isPublicOnTls: false,
  isDraining: () => false,
  accessLog: () => undefined,
});
const plan: Plan = {
  ...{
    id: 'free',
    name: 'Free',
    price_usd_month: 0,
    calls_month: 10,
    calls_second: 1,
    concurrency: 1,
    series_per_call: 1,
  },
  features: [],
  prices: [],
};
const clock = fakeClock('2026-11-30T23:59:59.000Z');
const recorded: Parameters<Journal['record']>[0][] = [];
const record = usage({
  journal: { record: (entry) => void recorded.push(entry), chargedFile: () => undefined },
  clock,
});

function reservationIn(month: string): Reservation {
  const charge = { calls: 1, month, isValid: true, end: () => undefined };
  return { calls: 1, charge, limit: 10, used: 1, month: calendarMonth(month), resetSeconds: 1 };
}

let step: (charge: (month: string) => void, goOn: () => void) => void;
const server = createServer({ ServerResponse: GatewayResponse }, (request, response) => {
  void openCall(request, response, () => {
    const call = callOf(request);
    call.caller = { accountId: 'a', keyId: 'k', plan, active: true };
    const charge = (month: string) => chargeCall(call, response, reservationIn(month));
    step(charge, () => void record(request, response, () => undefined));
    response.end();
  });
});
const url = await listen(server, '127.0.0.1', 0);
test.after.always(() => closeServer(server));

const [november, december] = ['2026-11-01', '2026-12-01'];

test('a call is billed in the month that it was reserved from, even if the month ended before it was recorded, or in between', async (t) => {
  const days: string[] = [];
  for (const [at, month, isChargedFirst] of [
    ['2026-11-30T23:59:59.000Z', november, true],
    ['2026-12-01T00:00:00.000Z', november, true],
    ['2026-12-01T00:00:00.000Z', december, true],
    ['2026-11-30T23:59:59.999Z', december, false],
    ['2026-11-30T23:59:59.999Z', november, false],
  ] as const) {
    clock.set(at);
    step = (charge, note) => {
      if (isChargedFirst) charge(month);
      note();
      if (!isChargedFirst) charge(month);
    };
    await (await fetch(`${url}/v1/series/A`)).text();
    const { day, billed } = recorded.at(-1) ?? {};
    days.push(`${day} ${billed}`);
  }
  t.deepEqual(days, ['2026-11-30 1', '2026-11-30 1', '2026-12-01 1', '2026-12-01 1', '2026-11-30 1']);
});
