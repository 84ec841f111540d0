// The instances of one service: uses them in turn, and avoids those to which a connection has failed until they answer again.
import type { Service } from '../../kernel/identity.ts';
import { entryAt } from '../../kernel/entries.ts';

export interface Upstreams {
  readonly name: Service;
  readonly urls: readonly string[];
  /** The next instance in turn; avoids failed ones unless all have failed. @param failed never this one, if there is another. */
  pick(failed?: string): string;
  /** Whether calls go to it in turn: false from a failed connection until it answers. */
  isHealthy(url: string): boolean;
  /** Notes that a connection to it failed. */
  failed(url: string): void;
  /** Notes that it answered. */
  answered(url: string): void;
}

// How long a failed instance is avoided before one call tries it. That call is sent to another if it fails again.
const avoidMs = 200;
// How long the others wait for that call: longer than it may take to connect.
const tryMs = 2_500;

/** @param nowMs a clock that never goes back. */
export function createUpstreams(
  name: Service,
  urls: readonly string[],
  nowMs: () => number = () => performance.now(),
): Upstreams {
  if (urls.length === 0) throw new Error(`The gateway needs a URL of ${name}.`);
  const avoidUntilMs = new Map<string, number>(); // of failed instances
  let turn = 0;

  function candidates(failed: string | undefined): readonly string[] {
    if (avoidUntilMs.size === 0 && failed === undefined) return urls;
    const others = urls.filter((url) => url !== failed);
    const choice = others.length > 0 ? others : urls;
    const now = nowMs();
    const usable = choice.filter((url) => (avoidUntilMs.get(url) ?? 0) <= now);
    return usable.length > 0 ? usable : choice;
  }

  return {
    name,
    urls,
    pick(failed) {
      const choice = candidates(failed);
      turn = (turn + 1) % choice.length;
      const url = entryAt(choice, turn);
      if (avoidUntilMs.has(url)) avoidUntilMs.set(url, nowMs() + tryMs);
      return url;
    },
    isHealthy: (url) => !avoidUntilMs.has(url),
    failed: (url) => void avoidUntilMs.set(url, nowMs() + avoidMs),
    answered: (url) => void avoidUntilMs.delete(url),
  };
}
