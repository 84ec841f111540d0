// Serves /metrics on a port of its own, which should not be reachable from outside. Adds the metrics of the process under the names of the usual
// Prometheus client for Node, so that existing dashboards work.
import { createServer, type ServerResponse } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { toEnvelope, toFailure } from '../errors.ts';
import { closeServer, listen, type RunningService } from './server.ts';
import { metricsText, type Metric } from '../metrics/text.ts';

const resolutionMs = 10;
/**
 * How long a scrape waits for figures of other servers. Prometheus gives up after ten seconds, and the other metrics matter most when those servers
 * hang.
 */
const refreshWithinMs = 1_000;

/**
 * @param metrics of the service, or of all services in this process.
 * @param ready rejects while the service is not ready, in time for a probe. /healthz and /readyz are served here too, for operators, with the reason.
 * @throws Error if the port is in use.
 */
export async function serveMetrics(
  metrics: readonly Metric[],
  { host, port }: { host: string; port: number },
  ready?: () => Promise<void>,
): Promise<RunningService> {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  const ofProcess = processMetrics(() => readLag(delay));
  const server = createServer((request, response) => {
    if (ready !== undefined && request.method === 'GET') {
      if (request.url === '/healthz') return sendProbe(response);
      if (request.url === '/readyz')
        return void ready().then(
          () => sendProbe(response),
          (error: unknown) => sendProbe(response, error),
        );
    }
    if (request.url !== '/metrics' || request.method !== 'GET') {
      response.writeHead(404).end();
      return;
    }
    void refreshed(metrics).then(() => {
      response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' });
      response.end(metricsText([...metrics, ...ofProcess()]));
    });
  });
  return {
    url: await listen(server, host, port, 'METRICS_PORT'),
    async close() {
      delay.disable();
      await closeServer(server);
    },
  };
}

function sendProbe(response: ServerResponse, error?: unknown): void {
  const failure = error === undefined ? undefined : toFailure(error);
  response.writeHead(failure === undefined ? 200 : 503, { 'content-type': 'application/json' });
  response.end(JSON.stringify(failure === undefined ? { success: true } : toEnvelope(failure, '')));
}

async function refreshed(metrics: readonly Metric[]): Promise<void> {
  const refreshes = new Set(metrics.flatMap(({ refresh }) => (refresh === undefined ? [] : [refresh])));
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, refreshWithinMs)));
  await Promise.race([Promise.all([...refreshes].map((refresh) => refresh())), late]);
  clearTimeout(timer);
}

interface Lag {
  mean: number;
  p99: number;
  max: number;
}

/** Each scrape reports the time since the previous one; two scrapers share the interval. */
function readLag(delay: ReturnType<typeof monitorEventLoopDelay>): Lag {
  const seconds = (nanoseconds: number) =>
    Number.isFinite(nanoseconds) ? Math.max(0, nanoseconds / 1e9 - resolutionMs / 1e3) : 0;
  const figures = {
    mean: seconds(delay.mean),
    p99: seconds(delay.percentile(99)),
    max: delay.count === 0 ? 0 : seconds(delay.max),
  };
  delay.reset();
  return figures;
}

/** @returns reads all metrics at the same moment. */
function processMetrics(readNow: () => Lag): () => Metric[] {
  return () => {
    const lag = readNow();
    const memory = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    const gauge = (name: string, help: string, value: number): Metric => ({
      name,
      help,
      read: () => [{ value }],
    });
    return [
      gauge(
        'nodejs_eventloop_lag_mean_seconds',
        'Mean lag of the event loop since the last scrape.',
        lag.mean,
      ),
      gauge('nodejs_eventloop_lag_p99_seconds', '99th percentile of the lag since the last scrape.', lag.p99),
      gauge('nodejs_eventloop_lag_max_seconds', 'Longest lag since the last scrape.', lag.max),
      gauge('nodejs_heap_size_used_bytes', 'Heap in use.', memory.heapUsed),
      gauge('nodejs_heap_size_total_bytes', 'Heap reserved.', memory.heapTotal),
      gauge('nodejs_external_memory_bytes', 'Memory outside of the heap.', memory.external),
      gauge('process_resident_memory_bytes', 'Resident memory.', memory.rss),
      {
        ...gauge('process_cpu_seconds_total', 'CPU time, user and system.', (user + system) / 1e6),
        type: 'counter',
      },
      gauge('process_uptime_seconds', 'Since the process started.', process.uptime()),
    ];
  };
}
