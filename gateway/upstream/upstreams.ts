// The instances of one service: uses them in turn, and avoids an instance whose connection failed until it answers again.
import type { Service } from '../../kernel/identity.ts';
import { entryAt } from '../../kernel/entries.ts';

export interface Upstreams {
  readonly name: Service;
  readonly urls: readonly string[];
  /** The next instance in turn; avoids failed ones unless all have failed. @param failed is not chosen if there is another. */
  pick(failed?: string): string;
  /** Whether calls are sent to it in turn: false from a failed connection until it answers. */
  isHealthy(url: string): boolean;
  /** Records that a connection to it failed. */
  failed(url: string): void;
  /** Records that it answered. */
  answered(url: string): void;
}

// How long a failed instance is avoided before one call tries it. If it fails again, that call is sent to another instance.
const avoidMs = 200;
// How long other calls wait for that call; longer than connecting may take.
const tryMs = 2_500;

/** @param nowMs a monotonic clock. */
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
