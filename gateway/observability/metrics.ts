// Counts calls and renders the counts for Prometheus. Counting a call is a few additions to arrays.
// No label holds a key, an account or an IP address: their number is unbounded.
import type { ErrorCode } from '../../kernel/errors.ts';
import { family, gaugesText, line, type Gauge, type Line } from '../../kernel/metrics/text.ts';
import { cacheResults, stages, type CacheResult, type Stage } from '../call.ts';

/** The facts of a call whose answer has ended. */
export interface EndedCall {
  /** The route group. */
  group: string;
  status: number;
  /** Whether the whole answer was sent. */
  complete: boolean;
  totalMs: number;
  stageMs: Readonly<Record<Stage, number>>;
  failureCode: ErrorCode | undefined;
  cache: CacheResult | undefined;
}

export interface Metrics {
  began(): void;
  ended(call: EndedCall): void;
  /** Counts a request that is not HTTP, or incomplete. */
  malformed(): void;
  /** All metrics, in Prometheus text format, version 0.0.4. */
  render(gauges: readonly Gauge[]): string;
}

/** Upper bounds of the buckets, in seconds. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

interface Group {
  /** By the first digit of the status. */
  statuses: number[];
  /** By bucket, not cumulative; the last is for all longer ones. */
  durations: number[];
  seconds: number;
}

export function createMetrics(): Metrics {
  const groups = new Map<string, Group>();
  const failures = new Map<ErrorCode, number>();
  const stageSeconds = Object.fromEntries(stages.map((stage) => [stage, 0])) as Record<Stage, number>;
  const cacheUses = Object.fromEntries(cacheResults.map((result) => [result, 0])) as Record<
    CacheResult,
    number
  >;
  let underWay = 0;
  let cutOff = 0;
  let malformed = 0;

  function groupOf(name: string): Group {
    const known = groups.get(name);
    if (known !== undefined) return known;
    const group = { statuses: zeros(6), durations: zeros(buckets.length + 1), seconds: 0 };
    groups.set(name, group);
    return group;
  }

  function ended(call: EndedCall): void {
    const { group: name, status, complete, totalMs, stageMs, failureCode, cache } = call;
    underWay -= 1;
    const group = groupOf(name);
    const seconds = totalMs / 1000;
    let bucket = 0;
    while (bucket < buckets.length && seconds > (buckets[bucket] as number)) bucket += 1;
    add(group.durations, bucket, 1);
    add(group.statuses, Math.floor(status / 100), 1);
    group.seconds += seconds;
    for (const stage of stages) stageSeconds[stage] += stageMs[stage] / 1000;
    if (!complete) cutOff += 1;
    if (cache !== undefined) cacheUses[cache] += 1;
    if (failureCode !== undefined) failures.set(failureCode, (failures.get(failureCode) ?? 0) + 1);
  }

  function render(gauges: readonly Gauge[]): string {
    const byGroup = [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
    return [
      family('almanac_gateway_requests_total', 'counter', 'Requests answered, by group of paths.', [
        ...byGroup.flatMap(([group, { statuses }]) =>
          statuses.flatMap((value, digit) =>
            value === 0 ? [] : [line('', { group, status: `${digit}xx` }, value)],
          ),
        ),
      ]),
      family(
        'almanac_gateway_request_duration_seconds',
        'histogram',
        'From the first policy to the end of the answer.',
        byGroup.flatMap(([group, figures]) => histogram(group, figures)),
      ),
      family(
        'almanac_gateway_stage_seconds_total',
        'counter',
        'Time of all requests, by stage.',
        stages.map((stage) => line('', { stage }, stageSeconds[stage])),
      ),
      family(
        'almanac_gateway_failures_total',
        'counter',
        'Requests that the gateway itself refused or could not serve, by code: quota_exceeded, rate_limited, …',
        [...failures].map(([code, value]) => line('', { code }, value)),
      ),
      family(
        'almanac_gateway_response_cache_total',
        'counter',
        'Reads of data-api: answered from memory, from memory after data-api has confirmed it, or by data-api.',
        cacheResults.map((result) => line('', { result }, cacheUses[result])),
      ),
      family(
        'almanac_gateway_requests_cut_off_total',
        'counter',
        'Requests whose answer did not reach the client whole.',
        [line('', {}, cutOff)],
      ),
      family(
        'almanac_gateway_requests_malformed_total',
        'counter',
        'Requests that were not valid HTTP, or did not come to their end.',
        [line('', {}, malformed)],
      ),
      family('almanac_gateway_requests_under_way', 'gauge', 'Requests under way.', [line('', {}, underWay)]),
      gaugesText(gauges),
    ].join('');
  }

  return {
    began: () => void (underWay += 1),
    ended,
    malformed: () => void (malformed += 1),
    render,
  };
}

function histogram(group: string, { durations, seconds }: Group): Line[] {
  let sum = 0;
  const lines = durations.map((count, i) => {
    sum += count;
    return line('_bucket', { group, le: String(buckets[i] ?? '+Inf') }, sum);
  });
  return [...lines, line('_sum', { group }, seconds), line('_count', { group }, sum)];
}

function zeros(length: number): number[] {
  return Array.from({ length }, () => 0);
}

function add(counts: number[], index: number, value: number): void {
  counts[index] = (counts[index] ?? 0) + value;
}
