// The instances of one service: uses them in turn, and avoids an instance whose connection failed until it answers again.
import type { Service } from '../../kernel/identity.ts';
import { entryAt } from '../../kernel/entries.ts';

export type Upstreams = ReturnType<typeof createUpstreams>;

// How long a failed instance is avoided before one call tries it. If that fails too, the call is sent to another instance.
const avoidMs = 200;
// How long other calls avoid the instance while one call tries it; longer than the connect timeout (`connectWithinMs`).
const tryMs = 2_500;

/** @param nowMs a monotonic clock. */
export function createUpstreams(
  name: Service,
  urls: readonly string[],
  nowMs: () => number = () => performance.now(),
) {
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
    /** The next instance in turn; avoids failed ones unless all have failed. @param failed is not chosen if there is another. */
    pick(failed?: string): string {
      const choice = candidates(failed);
      turn = (turn + 1) % choice.length;
      const url = entryAt(choice, turn);
      if (avoidUntilMs.has(url)) avoidUntilMs.set(url, nowMs() + tryMs);
      return url;
    },
    /** Whether calls are sent to it in turn: false from a failed connection until it answers. */
    isHealthy: (url: string) => !avoidUntilMs.has(url),
    /** Records that a connection to it failed. */
    failed: (url: string) => void avoidUntilMs.set(url, nowMs() + avoidMs),
    /** Records that it answered. */
    answered: (url: string) => void avoidUntilMs.delete(url),
  };
}
