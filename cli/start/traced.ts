// A service with its tracing: opened before it, if OTEL_EXPORTER_OTLP_ENDPOINT is set, and closed after it.
import type { Log } from '../../kernel/log/log.ts';
import type { Settings } from '../../kernel/settings/settings.ts';
import { openTracing, type Tracing } from '../../kernel/tracing/tracing.ts';

/** Starts the service with these options and its tracing. @param settings undefined: no tracing. */
export async function startTraced<Options extends { log: Log }, Service extends { close(): Promise<void> }>(
  service: string,
  settings: Settings['tracing'],
  start: (options: Options & { tracing?: Tracing }) => Promise<Service>,
  options: Options,
): Promise<Service> {
  if (settings === undefined) return start(options);
  const { log } = options;
  const tracing = await openTracing(settings, `almanac-${service}`, log);
  try {
    const running = await start({ ...options, tracing });
    return {
      ...running,
      async close() {
        await running.close();
        await tracing.close();
      },
    };
  } catch (error) {
    await tracing.close();
    throw error;
  }
}
