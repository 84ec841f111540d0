// Allotments: the gateway's questions while it counts a month in Redis. The month is charged in PostgreSQL before anything can be
// drawn, so that whatever happens to Redis, nobody is served above the limit.
import { z } from 'zod';
import { nextUtcMonth, utcMonth } from '../../kernel/clock.ts';
import { sendJson, type Handler } from '../../kernel/http/server.ts';
import { dateParam, parseBody } from '../../kernel/http/params.ts';
import type { Deps } from '../database.ts';
import { insertQuotaMonths, type Allowance } from './internal.sql.ts';
import { reclaimAllotments, topUpAllotments, type ToppedUpRow } from './allotments.sql.ts';

const topUpsMax = 500;
// A gateway's clock may be so far off ours when the month turns.
const clockSkewMs = 60_000;
// How long every gateway has to tell what it drew from an allotment that is closed.
const reclaimAfterMs = 60_000;

const id = z.string().min(1).max(64);
const count = z.int().min(0).max(1_000_000_000);

export const drawnEntry = z.strictObject({
  account_id: id,
  month: dateParam,
  allotment_id: id,
  drawn: count,
});

const topUpBody = z.strictObject({
  top_ups: z
    .array(
      z.strictObject({
        account_id: id,
        month: dateParam,
        allotment_id: id,
        seen: count,
        calls: count.min(1),
      }),
    )
    .max(topUpsMax)
    .refine(
      (topUps) => new Set(topUps.map((topUp) => topUp.account_id)).size === topUps.length,
      'must name an account once',
    ),
});

/** POST /internal/quota/top-up: fills allotments of the present month (UTC) from what is left of it. */
export function topUpQuota(deps: Deps): Handler {
  return async (request, response, call) => {
    const { top_ups: topUps } = parseBody(topUpBody, request.body);
    const allowances: Allowance[] = deps.plans.all.map(({ id: plan, calls_month }) => ({
      id: plan,
      calls_month,
    }));
    const now = deps.clock.now();
    const months = [-clockSkewMs, 0, clockSkewMs].map((ms) => utcMonth(new Date(now.getTime() + ms)));
    const present = topUps.filter(({ month }) => months.includes(month));
    const filled = new Map<string, ToppedUpRow>();
    await call.stage('sql', async () => {
      for (const row of await topUpAllotments(deps.db, present, allowances, now))
        filled.set(row.account_id, row);
      const missing = present.filter(({ account_id }) => !filled.has(account_id));
      if (missing.length === 0) return;
      for (const month of new Set(missing.map((topUp) => topUp.month))) {
        const accountIds = missing.filter((topUp) => topUp.month === month).map((topUp) => topUp.account_id);
        await insertQuotaMonths(deps.db, accountIds, month);
      }
      for (const row of await topUpAllotments(deps.db, missing, allowances, now))
        filled.set(row.account_id, row);
    });
    sendJson(response, 200, {
      allotments: topUps.map(({ account_id, month }) => {
        // An account that was disabled since, or a month that is not now: nothing.
        const nothing = { granted: 0, elsewhere: 0, limit: 0, closed: false };
        const { granted, elsewhere, limit, closed } = filled.get(account_id) ?? nothing;
        return { granted, elsewhere, limit, closed, resets_at: nextUtcMonth(new Date(month)).toISOString() };
      }),
    });
  };
}

/** Gives back what is left in allotments that were lost with their Redis; to be called now and then. */
export async function reclaimLostAllotments(deps: Deps): Promise<number> {
  const now = deps.clock.now();
  return reclaimAllotments(deps.db, new Date(now.getTime() - reclaimAfterMs), now);
}
