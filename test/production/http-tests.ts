// The test files that run against processes as in production: every one that calls services by HTTP, unless a list gives a reason why not.
// npm test runs all of them, with the services in the process of the test.
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../../kernel/project.ts';

/** The files that are left out, by the reason. */
export const leftOut: readonly { reason: string; files: readonly string[] }[] = [
  {
    reason: 'each answer of each endpoint after each kind of load, by itself two minutes of CPU',
    files: ['test/v1/etags.test.ts'],
  },
  {
    reason:
      'what one accounts-api keeps of its issuer, on a clock that is stopped; test/auth/google-flows.test.ts is run',
    files: ['test/auth/google.test.ts'],
  },
  {
    reason:
      'events from Stripe in many orders, by itself most of a minute; the other tests of billing are run',
    files: ['test/billing/orders.test.ts'],
  },
  {
    reason: 'splits the observations, which have partitions in this set-up',
    files: ['test/migrations/partitions.test.ts'],
  },
  {
    reason: 'readers that wait for a lock, which they do on the replica in this set-up',
    files: ['test/v1/funds-deleted.test.ts', 'test/v1/series-rewritten.test.ts'],
  },
  {
    reason: 'the connections, the statements or the memory of one service',
    files: [
      'test/internal/half-open.test.ts',
      ...['test/v1/series-race.test.ts', 'test/v1/series-http.test.ts', 'test/ingest/undo-oracle.test.ts'],
      ...['test/v1/fund-races.test.ts', 'test/v1/series/chart-limits.test.ts'],
    ],
  },
  {
    reason: 'reads what services in its own process log, trace or count',
    files: [
      'test/auth/secrets.test.ts',
      'test/observability/traces.test.ts',
      'test/observability/metrics.test.ts',
      'test/observability/slow-statements.test.ts',
      'test/cli/check-observability.test.ts',
    ],
  },
  {
    reason: 'an installation as `almanac start` makes it, all in one process; or the command line',
    files: [
      'test/auth/first-key.test.ts',
      'test/docs/docs.test.ts',
      'test/start/backup.test.ts',
      'test/start/embedded.test.ts',
      'test/start/first-start.test.ts',
      'test/cli/commands.test.ts',
    ],
  },
  {
    reason: 'starts processes of its own, whatever the set-up',
    files: [
      'test/gateway/shared-journal.test.ts',
      'test/auth/processes.test.ts',
      'test/ingest/uploads-processes.test.ts',
      'test/ingest/hostile.test.ts',
      'test/ingest/inbox-processes.test.ts',
      'test/ingest/publisher-processes.test.ts',
      'test/internal/replica.test.ts',
      'test/internal/stalled-database.test.ts',
      'test/v1/builds.test.ts',
      'test/gateway/redis-sets.test.ts',
      'test/gateway/revocation.test.ts',
      'test/gateway/rolling.test.ts',
      'test/gateway/service-rolling.test.ts',
      'test/gateway/service-tls.test.ts',
    ],
  },
  {
    reason: 'the worker, which is given its times by the test, in whose process it runs',
    files: [
      'test/follows/follows.test.ts',
      'test/follows/mails.test.ts',
      'test/webhooks/connections.test.ts',
      'test/webhooks/endpoint-states.test.ts',
      'test/webhooks/fairness.test.ts',
      'test/webhooks/fan-out.test.ts',
      'test/webhooks/hostile.test.ts',
      'test/webhooks/killed-workers.test.ts',
      'test/webhooks/operating.test.ts',
      'test/webhooks/recover.test.ts',
      'test/webhooks/retries.test.ts',
      'test/webhooks/signatures.test.ts',
    ],
  },
  {
    reason:
      'the gateway alone, in the process of the test, before services or a Redis that the test controls',
    files: [
      'test/fred/errors.test.ts',
      'test/gateway/aborts.test.ts',
      'test/gateway/key-access.test.ts',
      'test/gateway/access-log.test.ts',
      'test/gateway/accounts-unavailable.test.ts',
      'test/gateway/blocks.test.ts',
      'test/gateway/concurrency.test.ts',
      'test/gateway/cors.test.ts',
      'test/gateway/counted-calls.test.ts',
      'test/gateway/credential.test.ts',
      'test/gateway/dashboard.test.ts',
      'test/gateway/drain.test.ts',
      'test/gateway/failed-calls.test.ts',
      'test/gateway/file-charges.test.ts',
      'test/gateway/forward.test.ts',
      'test/gateway/framing.test.ts',
      'test/gateway/cached-keys.test.ts',
      'test/gateway/hostile-upstreams.test.ts',
      'test/gateway/identity-headers.test.ts',
      'test/gateway/keyed-call.test.ts',
      'test/gateway/late-answers.test.ts',
      'test/gateway/pinned-keys.test.ts',
      'test/gateway/late-grants.test.ts',
      'test/gateway/limit-headers.test.ts',
      'test/gateway/metrics.test.ts',
      'test/gateway/months.test.ts',
      'test/gateway/outage.test.ts',
      'test/gateway/paths.test.ts',
      'test/gateway/plan.test.ts',
      'test/gateway/quota.test.ts',
      'test/gateway/rate.test.ts',
      'test/gateway/readiness.test.ts',
      'test/gateway/redis-faults.test.ts',
      'test/gateway/reload.test.ts',
      'test/gateway/response-cache-model.test.ts',
      'test/gateway/response-cache.test.ts',
      'test/gateway/revocation-trials.test.ts',
      'test/gateway/routes.test.ts',
      'test/gateway/slow-clients.test.ts',
      'test/gateway/tls.test.ts',
      'test/gateway/uploads.test.ts',
      'test/gateway/usage.test.ts',
      'test/mcp/conformance.test.ts',
      'test/mcp/ledger.test.ts',
      'test/mcp/refusals.test.ts',
    ],
  },
];

/** Files elsewhere call services if they start some by the harness. */
const folders = /^test\/(?:v1|auth|billing|internal|webhooks|follows|gateway|docs)\//;
const startsServices =
  /from '[./\w]*services\/(?:services|accounts-service|data-service|list-service|instance)\.ts'/;

/** Every test file that calls services by HTTP. */
export function httpTests(): string[] {
  return globSync('test/**/*.test.ts', { cwd: projectRoot })
    .filter((file) => folders.test(file) || startsServices.test(textOf(file)))
    .sort();
}

/** Those that are run as in production. */
export function testsAsInProduction(): string[] {
  const out = new Set(leftOut.flatMap(({ files }) => files));
  return httpTests().filter((file) => !out.has(file));
}

export function textOf(file: string): string {
  return readFileSync(path.join(projectRoot, file), 'utf8');
}
