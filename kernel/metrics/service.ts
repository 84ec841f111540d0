// Counts the calls of a service by route, stages and failures. Counting takes a few additions to arrays.
// No label contains a key, an account or an IP address, as their number is unbounded.
import type { ErrorCode } from '../errors.ts';
import { histogramSamples, newHistogram, observe, type Histogram } from './histogram.ts';
import type { Metric } from './text.ts';

/** The figures of one route. */
export interface RouteFigures {
  readonly labels: Readonly<Record<string, string>>;
  /** By the first digit of the status. */
  readonly statuses: number[];
  readonly time: Histogram;
}

export interface ServiceMetrics {
  readonly metrics: readonly Metric[];
  /** Registers a route by its pattern. */
  ofRoute(method: string, route: string): RouteFigures;
  /** The figures of calls without a route. */
  readonly other: RouteFigures;
  started(): void;
  /** @param route undefined: the call is not counted. */
  ended(route: RouteFigures | undefined, status: number, seconds: number): void;
  stage(name: string, seconds: number): void;
  failed(code: ErrorCode): void;
  /** Counts a call without a gateway's sealed identity, or with one sealed by another IDENTITY_SECRET. */
  identityRefused(): void;
}

/** The status classes that are reported. */
const reported = ['2xx', '3xx', '4xx', '5xx'];

export function createServiceMetrics(service: string): ServiceMetrics {
  const routes: RouteFigures[] = [];
  const stages = new Map<string, Histogram>();
  const failures = new Map<ErrorCode, number>();
  let inFlight = 0;
  let identitiesRefused = 0;

  function ofRoute(method: string, route: string): RouteFigures {
    const figures = {
      labels: { service, method, route },
      statuses: [0, 0, 0, 0, 0, 0],
      time: newHistogram(),
    };
    routes.push(figures);
    return figures;
  }
  const called = () => routes.filter(({ statuses }) => statuses.some((count) => count > 0));
  const other = ofRoute('any', 'other');
  return {
    ofRoute,
    other,
    started: () => void (inFlight += 1),
    ended(route, status, seconds) {
      inFlight -= 1;
      if (route === undefined) return;
      const digit = Math.floor(status / 100);
      route.statuses[digit] = (route.statuses[digit] ?? 0) + 1;
      observe(route.time, seconds);
    },
    stage(name, seconds) {
      let stage = stages.get(name);
      if (stage === undefined) stages.set(name, (stage = newHistogram()));
      observe(stage, seconds);
    },
    failed: (code) => void failures.set(code, (failures.get(code) ?? 0) + 1),
    identityRefused: () => void (identitiesRefused += 1),
    metrics: [
      {
        name: 'almanac_service_requests_total',
        help: 'Requests of gateways answered, by route.',
        type: 'counter',
        // Absent codes are reported as 0, so that the first failure of a route shows as an increase.
        read: () =>
          called().flatMap(({ labels, statuses }) =>
            reported.map((status) => ({
              labels: { ...labels, status },
              value: statuses[Number(status[0])] ?? 0,
            })),
          ),
      },
      {
        name: 'almanac_service_request_duration_seconds',
        help: 'From the head of a request to the end of its handler.',
        type: 'histogram',
        read: () => called().flatMap(({ labels, time }) => histogramSamples(labels, time)),
      },
      {
        name: 'almanac_service_stage_duration_seconds',
        help: 'Time of a stage of a request.',
        type: 'histogram',
        read: () => [...stages].flatMap(([stage, time]) => histogramSamples({ service, stage }, time)),
      },
      {
        name: 'almanac_service_failures_total',
        help: 'Requests answered with an error, by code.',
        type: 'counter',
        read: () => [...failures].map(([code, value]) => ({ labels: { service, code }, value })),
      },
      {
        name: 'almanac_service_identities_refused_total',
        help: 'Requests without an identity sealed with the IDENTITY_SECRET of the service.',
        type: 'counter',
        read: () => [{ labels: { service }, value: identitiesRefused }],
      },
      {
        name: 'almanac_service_requests_under_way',
        help: 'Requests in flight.',
        read: () => [{ labels: { service }, value: inFlight }],
      },
    ],
  };
}
