// The signals that a running service handles: stop in good order, or read the configuration again.
import { isatty } from 'node:tty';
import type { Log } from '../kernel/log.ts';

/**
 * Resolves on Ctrl-C or SIGTERM. SIGHUP tells a service to reload its configuration; to a program on a
 * terminal it says that the terminal is gone, so there it stops the program too. Further signals change nothing: Ctrl-C comes from
 * the terminal and again from npm, and the embedded PostgreSQL would go on without a process that ended at the second.
 */
export function stopSignal(): Promise<void> {
  const signals = isOnTerminal()
    ? (['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    : (['SIGINT', 'SIGTERM'] as const);
  // SIGHUP is ignored until there is something to reload; without a listener it would end the process.
  if (!isOnTerminal()) process.on('SIGHUP', () => undefined);
  return new Promise((resolve) => {
    for (const signal of signals) process.on(signal, () => resolve());
  });
}

/** Reads and checks a configuration. @returns applies it. @throws Error that says what is wrong with it. */
export type PrepareReload = () => Promise<() => void> | (() => void);

/**
 * On each SIGHUP: reads and checks all parts, and applies them only if all are valid. One reload
 * at a time; signals that arrive meanwhile cause one more.
 */
export function reloadOnHangUp(parts: readonly PrepareReload[], log: Log): void {
  if (isOnTerminal()) return;
  let wanted = false;
  let underWay = false;
  async function reload(): Promise<void> {
    underWay = true;
    while (wanted) {
      wanted = false;
      try {
        const swaps: (() => void)[] = [];
        for (const prepare of parts) swaps.push(await prepare());
        for (const swap of swaps) swap();
        log.info('The configuration was read again and is in force');
      } catch (error) {
        log.error({ err: error }, 'The configuration is invalid; the previous one stays in force');
      }
    }
    underWay = false;
  }
  process.on('SIGHUP', () => {
    wanted = true;
    if (!underWay) void reload();
  });
}

function isOnTerminal(): boolean {
  return isatty(0) || isatty(1);
}
