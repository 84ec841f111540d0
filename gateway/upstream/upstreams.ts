// The instances of one service: uses them in turn, and skips for a while those to which a connection has failed.
import type { Service } from '../../kernel/identity.ts';
import { entryAt } from '../../kernel/entries.ts';

export interface Upstreams {
  readonly name: Service;
  readonly urls: readonly string[];
  /** The next instance in turn; skips recently failed ones unless all have failed. */
  pick(): string;
  /** Whether calls go to it in turn: false for a while after a connection to it failed. */
  isHealthy(url: string): boolean;
  /** Notes that a connection to it failed. */
  failed(url: string): void;
  /** Notes that it answered. */
  answered(url: string): void;
}

const avoidMs = 2_000;

export function createUpstreams(name: Service, urls: readonly string[]): Upstreams {
  if (urls.length === 0) throw new Error(`The gateway needs a URL of ${name}.`);
  const avoidUntil = new Map<string, number>();
  let turn = 0;
  return {
    name,
    urls,
    pick() {
      const now = performance.now();
      const healthy = avoidUntil.size === 0 ? urls : urls.filter((url) => (avoidUntil.get(url) ?? 0) <= now);
      const choice = healthy.length > 0 ? healthy : urls;
      turn = (turn + 1) % choice.length;
      return entryAt(choice, turn);
    },
    isHealthy: (url) => (avoidUntil.get(url) ?? 0) <= performance.now(),
    failed: (url) => void avoidUntil.set(url, performance.now() + avoidMs),
    answered: (url) => void avoidUntil.delete(url),
  };
}
