// Counts calls and renders the counts for Prometheus. Counting a call takes a few additions to arrays.
// No label contains a key, an account or an IP address, as their number is unbounded.
import type { ErrorCode } from '../../kernel/errors.ts';
import { histogramSamples, newHistogram, observe, type Histogram } from '../../kernel/metrics/histogram.ts';
import type { Metric } from '../../kernel/metrics/text.ts';
import { cacheResults, stages, type CacheResult, type Call, type Stage } from '../call.ts';

/** How the answer to a call ended. */
export interface Ending {
  status: number;
  /** Whether the whole answer was sent. */
  complete: boolean;
}

export type Metrics = ReturnType<typeof createMetrics>;

interface Group {
  /** By the first digit of the status. */
  statuses: number[];
  time: Histogram;
}

export function createMetrics() {
  const groups = new Map<string, Group>();
  const failures = new Map<ErrorCode, number>();
  const stageSeconds = Object.fromEntries(stages.map((stage) => [stage, 0])) as Record<Stage, number>;
  const cacheUses = Object.fromEntries(cacheResults.map((result) => [result, 0])) as Record<
    CacheResult,
    number
  >;
  let inFlight = 0;
  let cutOff = 0;
  let malformed = 0;

  function groupOf(name: string): Group {
    const known = groups.get(name);
    if (known !== undefined) return known;
    const group = { statuses: [0, 0, 0, 0, 0, 0], time: newHistogram() };
    groups.set(name, group);
    return group;
  }

  /** Counts a call whose last stage has ended. @param name of the group of its route. */
  function ended(call: Call, name: string, { status, complete }: Ending): void {
    const { stageMs, failureCode, cache } = call;
    inFlight -= 1;
    const group = groupOf(name);
    observe(group.time, (call.stageSinceMs - call.arrivedAtMs) / 1000);
    const digit = Math.floor(status / 100);
    group.statuses[digit] = (group.statuses[digit] ?? 0) + 1;
    for (const stage of stages) stageSeconds[stage] += stageMs[stage] / 1000;
    if (!complete) cutOff += 1;
    if (cache !== undefined) cacheUses[cache] += 1;
    if (failureCode !== undefined) failures.set(failureCode, (failures.get(failureCode) ?? 0) + 1);
  }

  const byGroup = () => [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
  const metrics: Metric[] = [
    {
      name: 'almanac_gateway_requests_total',
      help: 'Requests answered, by group of paths.',
      type: 'counter',
      read: () =>
        byGroup().flatMap(([group, { statuses }]) =>
          statuses.flatMap((value, digit) =>
            value === 0 ? [] : [{ labels: { group, status: `${digit}xx` }, value }],
          ),
        ),
    },
    {
      name: 'almanac_gateway_request_duration_seconds',
      help: 'From the first policy to the end of the answer.',
      type: 'histogram',
      read: () => byGroup().flatMap(([group, { time }]) => histogramSamples({ group }, time)),
    },
    {
      name: 'almanac_gateway_stage_seconds_total',
      help: 'Time of all requests, by stage.',
      type: 'counter',
      read: () => stages.map((stage) => ({ labels: { stage }, value: stageSeconds[stage] })),
    },
    {
      name: 'almanac_gateway_failures_total',
      help: 'Requests that the gateway itself refused or could not serve, by code: quota_exceeded, rate_limited, …',
      type: 'counter',
      read: () => [...failures].map(([code, value]) => ({ labels: { code }, value })),
    },
    {
      name: 'almanac_gateway_response_cache_total',
      help: 'Reads of data-api: answered from memory, or by data-api.',
      type: 'counter',
      read: () => cacheResults.map((result) => ({ labels: { result }, value: cacheUses[result] })),
    },
    {
      name: 'almanac_gateway_requests_cut_off_total',
      help: 'Requests whose answer did not reach the client completely.',
      type: 'counter',
      read: () => [{ value: cutOff }],
    },
    {
      name: 'almanac_gateway_requests_malformed_total',
      help: 'Requests that were not valid HTTP, or were incomplete.',
      type: 'counter',
      read: () => [{ value: malformed }],
    },
    {
      name: 'almanac_gateway_requests_under_way',
      help: 'Requests in flight.',
      read: () => [{ value: inFlight }],
    },
  ];

  return {
    started: () => void (inFlight += 1),
    ended,
    /** Counts a request that is not HTTP, or incomplete. */
    malformed: () => void (malformed += 1),
    metrics,
  };
}
