// Serves /metrics of a service that runs alone. If all services run in one process, the gateway serves their metrics.
import type { Metric } from '../../kernel/metrics/text.ts';
import type { Settings } from '../../kernel/settings/settings.ts';

interface Measured {
  metrics: readonly Metric[];
  /** For a service without a port of its own; see serveMetrics. */
  ready?: () => Promise<void>;
  close(): Promise<void>;
}

/**
 * Makes the service serve its metrics.
 * @param metrics where; undefined: nowhere. @throws Error if the port is in use; the service is closed then.
 */
export async function withMetrics<Service extends Measured>(
  service: Service,
  metrics: Settings['metrics'],
): Promise<Service> {
  if (metrics === undefined) return service;
  try {
    // Imported here: `almanac start` reaches PostgreSQL sooner without a web server's modules.
    const { serveMetrics } = await import('../../kernel/http/metrics-server.ts');
    const served = await serveMetrics(service.metrics, metrics, service.ready);
    return {
      ...service,
      async close() {
        await service.close();
        await served.close();
      },
    };
  } catch (error) {
    await service.close();
    throw error;
  }
}

/** The directories whose full disk stops a process. @param database of the embedded PostgreSQL. */
export function watchedDirectories(
  { journalDir }: Settings,
  database: string | undefined,
): Record<string, string> {
  return { journal: journalDir, ...(database === undefined ? {} : { database }) };
}
