// The month that answers report, for accounts with different limits and at the end of a month.
import { createServer } from 'node:http';
import test from 'ava';
import { systemClock } from '../../kernel/clock.ts';
import { closeServer, listen } from '../../kernel/http/server.ts';
import type { Plan } from '../../kernel/plans.ts';
import { callOf } from '../call.ts';
import { createClients } from '../client-ip.ts';
import { calendarMonth } from '../heartbeat/calendar-month.ts';
import type { Reservation } from '../heartbeat/month-quota.ts';
import { createFileCharges } from '../heartbeat/file-charges.ts';
import { GatewayResponse } from '../response-headers.ts';
import { quota } from './quota.ts';
import { requestId } from './request-id.ts';

const openCall = requestId({
  clients: createClients(0, { warn: () => undefined }),
  isPublicOnTls: false,
  isDraining: () => false,
  accessLog: () => undefined,
});
let next: Reservation;
const month = { reserve: () => next };
const quotaPolicy = quota(
  { month, fileCharges: createFileCharges(month), clock: systemClock },
  { by: 'call' },
);
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
const server = createServer({ ServerResponse: GatewayResponse }, (request, response) => {
  void openCall(request, response, () => {
    callOf(request).caller = { accountId: 'a', keyId: 'k', plan, active: true };
    void quotaPolicy(request, response, () => response.end());
  });
});
const url = await listen(server, '127.0.0.1', 0);
test.after.always(() => closeServer(server));

const november = calendarMonth('2126-11-01');
const december = calendarMonth('2126-12-01');
const charge = { calls: 1, month: '2126-11-01', isValid: true, end: () => undefined };

test('an answer reports the limit and the end of its own month, whatever the previous answer reported', async (t) => {
  for (const month of [november, december, november]) {
    for (const limit of [10, 20, null, 10]) {
      const used = limit === null ? null : 3;
      next = { calls: 1, charge, limit, used, month, resetSeconds: 5 };
      const { headers } = await fetch(`${url}/v1/series/A`);
      t.is(headers.get('x-quota-reset'), month.resetsAt);
      t.is(headers.get('x-quota-limit'), String(limit ?? 'unlimited'));
      t.is(headers.get('x-quota-remaining'), limit === null ? null : String(limit - 3));
      const policy = limit === null ? null : `"month";q=${limit};w=${month.monthSeconds}`;
      t.is(headers.get('ratelimit-policy'), policy);
      t.is(headers.get('ratelimit'), limit === null ? null : `"month";r=${limit - 3};t=5`);
    }
  }
});
