// The events of webhooks: the meaning of each type, the schema of its `data`, and a sample. docs/events.md and the `webhooks` of the OpenAPI document
// are generated from it.
import { z } from 'zod';

export interface EventKind {
  summary: string;
  /** Who receives it: every account, only the account concerned, or the operators. */
  of: 'everybody' | 'account' | 'operators';
  data: z.ZodObject;
  sample: Record<string, unknown>;
}

/** The most ids in one event: its body then stays below 20 KB unless the ids are unusually long. */
export const eventSeriesMax = 250;

const instant = z.iso.datetime({ precision: 0 }); // UTC, to the second, as in all answers
const load = {
  load: z.int().describe('The number of the load.'),
  published_at: instant.describe('When the load was published.'),
};
const ofSeries = {
  ...load,
  vintage: z.iso
    .date()
    .describe(
      'The vintage of the load. If it is older than that of an earlier load, the load is a backfill.',
    ),
  series: z
    .array(z.string())
    .min(1)
    .max(eventSeriesMax)
    .describe('The ids, sorted. A larger load is reported in several events, each with other series.'),
};
const seriesSample = {
  load: 412,
  published_at: '2026-11-16T12:30:04Z',
  vintage: '2026-11-16',
  series: ['CPI.M', 'CPI_CORE.M'],
};
const changedIds = z
  .array(z.string())
  .min(1)
  .max(eventSeriesMax)
  .describe('Its current and earlier ids, sorted.');
const changeSample = { load: 414, published_at: '2026-11-16T12:33:10Z', series: ['CPI.M'] };
const key = {
  key: z.string().describe('Its id.'),
  name: z.string(),
  masked: z.string().describe('Its first and last characters.'),
};
const keySample = { key: 'key_a2b3c4d5e6f7a2b3c4d5', name: 'Production', masked: 'pk_live_abcd…wxyz' };

export const eventKinds = {
  'series.updated': {
    summary: 'A load added, changed or deleted points of series.',
    of: 'everybody',
    data: z.object(ofSeries),
    sample: seriesSample,
  },
  'series.revised': {
    summary:
      'A load changed or deleted points that were published before. `series.updated` also reports the same series.',
    of: 'everybody',
    data: z.object(ofSeries),
    sample: seriesSample,
  },
  'series.deleted': {
    summary: 'A series was deleted: its id answers 410 from now on.',
    of: 'everybody',
    data: z.object({ ...load, series: changedIds }),
    sample: changeSample,
  },
  'series.restored': {
    summary: 'A series that was deleted or merged is served again.',
    of: 'everybody',
    data: z.object({ ...load, series: changedIds }),
    sample: changeSample,
  },
  'series.renamed': {
    summary: 'The id of a series changed. It is also served under its earlier id.',
    of: 'everybody',
    data: z.object({
      ...load,
      from: z.string().describe('Its id before.'),
      to: z.string().describe('Its id now.'),
      series: changedIds,
    }),
    sample: {
      load: 414,
      published_at: '2026-11-16T12:33:10Z',
      from: 'CPI.M',
      to: 'PRICES.CPI',
      series: ['CPI.M', 'PRICES.CPI'],
    },
  },
  'dataset.updated': {
    summary:
      'A load changed rows of a dataset other than `observations`: prices, funds, securities, auctions, trade, the calendar, metadata.',
    of: 'everybody',
    data: z.object({
      ...load,
      dataset: z.string().describe('As in `almanac ingest`.'),
      rows_new: z.int(),
      rows_changed: z.int(),
      rows_deleted: z.int(),
    }),
    sample: {
      load: 413,
      published_at: '2026-11-16T12:31:40Z',
      dataset: 'trade',
      rows_new: 310,
      rows_changed: 12,
      rows_deleted: 0,
    },
  },
  'release.published': {
    summary: 'The last of the series that an entry of the release calendar names was loaded.',
    of: 'everybody',
    data: z.object({
      ...load,
      release: z.string().describe('The `id` of the entry, as in `/v1/calendar`.'),
      title: z.string(),
      source: z.string(),
      release_at: instant.describe('The time of the entry.'),
      release_date: z.iso.date().describe('The local day of the publisher.'),
      reference_period: z.string().nullable().describe('What it is about.'),
      series: ofSeries.series.describe(
        'The ids that the entry names, sorted. More than 250 are reported in several events.',
      ),
    }),
    sample: {
      load: 412,
      published_at: '2026-11-16T12:30:04Z',
      release: 'cpi-2026-10',
      title: 'Consumer Price Index',
      source: 'Bureau of Statistics',
      release_at: '2026-11-16T12:30:00Z',
      release_date: '2026-11-16',
      reference_period: '2026-10',
      series: ['CPI.M', 'CPI_CORE.M'],
    },
  },
  'source.failed': {
    summary: 'An automatically refreshed source could not be fetched or loaded three times in a row.',
    of: 'operators',
    data: z.object({
      source: z.string().describe('Its name, as in `almanac sources list`.'),
      reason: z.string().describe('Why the last attempt failed.'),
      failures: z.int().describe('How many attempts in a row have failed.'),
      failing_since: instant.describe('The first of them.'),
      next_fetch_at: instant.describe('The next attempt.'),
    }),
    sample: {
      source: 'prices.gold',
      reason: 'https://example.org/gold.csv cannot be fetched: the server answered 503.',
      failures: 3,
      failing_since: '2026-11-16T10:30:01Z',
      next_fetch_at: '2026-11-16T10:52:04Z',
    },
  },
  'key.created': {
    summary: 'An API key was created.',
    of: 'account',
    data: z.object({ ...key, expires_at: instant.nullable() }),
    sample: { ...keySample, expires_at: null },
  },
  'key.revoked': {
    summary: 'An API key was revoked.',
    of: 'account',
    data: z.object(key),
    sample: keySample,
  },
  'usage.threshold_reached': {
    summary: 'The calls of the month reached 50, 80 or 100 % of the limit.',
    of: 'account',
    data: z.object({
      month: z.iso.date().describe('The first day of the month.'),
      percent: z.int(),
      limit: z.int().describe('Calls a month.'),
    }),
    sample: { month: '2026-11-01', percent: 80, limit: 250_000 },
  },
  'subscription.updated': {
    summary: 'The subscription or the plan of the account changed.',
    of: 'account',
    data: z.object({
      plan: z.string().describe('The current plan.'),
      state: z
        .enum(['none', 'active', 'inactive'])
        .describe('`inactive`: calls with keys answer 402 `subscription_inactive`.'),
      status: z.string().nullable().describe("Stripe's status of the subscription; null without one."),
      current_period_end: instant.nullable(),
      cancels_at: instant.nullable().describe('When it ends, if it was cancelled.'),
      grace_ends_at: instant.nullable().describe('Until when calls are served although a payment is due.'),
    }),
    sample: {
      plan: 'pro',
      state: 'active',
      status: 'active',
      current_period_end: '2026-12-16T12:00:00Z',
      cancels_at: null,
      grace_ends_at: null,
    },
  },
  'payment.failed': {
    summary: 'A payment of the subscription failed.',
    of: 'account',
    data: z.object({
      invoice: z.string().describe("Stripe's id of the invoice."),
      amount_due: z.int().describe('In the smallest unit of the currency.'),
      currency: z.string().length(3),
      next_attempt_at: instant.nullable(),
    }),
    sample: {
      invoice: 'in_1QabcdEFGH',
      amount_due: 9_900,
      currency: 'usd',
      next_attempt_at: '2026-11-19T12:00:00Z',
    },
  },
  'webhook.test': {
    summary: 'Somebody asked for a test event of the endpoint.',
    of: 'account',
    data: z.object({ webhook: z.string().describe('The id of the endpoint.') }),
    sample: { webhook: 'wh_a2b3c4d5e6f7a2b3c4d5' },
  },
} as const satisfies Record<string, EventKind>;

export type EventType = keyof typeof eventKinds;
export type EventData<Type extends EventType> = z.infer<(typeof eventKinds)[Type]['data']>;

/** The types of events that concern a single account. */
export type AccountEventType = {
  [Type in EventType]: (typeof eventKinds)[Type]['of'] extends 'account' ? Type : never;
}[EventType];

export const eventTypes = Object.keys(eventKinds) as [EventType, ...EventType[]];
/** The types whose events an endpoint can filter by series id. */
export const seriesEventTypes = [
  ...(['series.updated', 'series.revised', 'series.deleted', 'series.restored', 'series.renamed'] as const),
  'release.published',
] as const;
/** The types of events about changed data, for every account. */
export const updateTypes = [...seriesEventTypes, 'dataset.updated'] as const;
