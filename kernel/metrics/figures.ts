// Figures that are read from a database or from Redis only when /metrics is read. A figure that could not be read is absent, so that an old figure is
// never shown as current.
import type { Log } from '../log/log.ts';
import type { Metric, Sample } from './text.ts';

export interface Figures<T> {
  /** A metric that is absent while the figures cannot be read. */
  metric(about: Pick<Metric, 'name' | 'help' | 'type'>, samples: (figures: T) => readonly Sample[]): Metric;
  /** 1 if the figures could be read, otherwise 0. */
  answered(about: Pick<Metric, 'name' | 'help'>, labels: Readonly<Record<string, string>>): Metric;
}

/**
 * @param what for the log. @param ask reads all figures at once. It is not called again before it has answered, so that an unresponsive server is
 * asked once.
 */
export function askedFigures<T>(what: string, ask: () => Promise<T>, log: Log): Figures<T> {
  let latest: T | undefined;
  let refreshing: Promise<void> | undefined;

  async function askNow(): Promise<void> {
    latest = undefined;
    try {
      latest = await ask();
    } catch (error) {
      log.warn({ err: error }, `${what} could not be read for /metrics`);
    }
  }
  const refresh = () => (refreshing ??= askNow().finally(() => (refreshing = undefined)));
  return {
    metric: (about, samples) => ({
      ...about,
      refresh,
      read: () => (latest === undefined ? [] : samples(latest)),
    }),
    answered: (about, labels) => ({
      ...about,
      refresh,
      read: () => [{ labels, value: latest === undefined ? 0 : 1 }],
    }),
  };
}
