// The signals that a running service handles: stop in good order, or read the configuration again.
import { isatty } from 'node:tty';
import type { Log } from '../kernel/log.ts';

/**
 * Resolves on Ctrl-C or SIGTERM. SIGHUP says to a service "read your configuration again", and to a program on a
 * terminal that the terminal is gone: there it stops the program too.
 */
export function stopSignal(): Promise<void> {
  const signals = isOnTerminal()
    ? (['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    : (['SIGINT', 'SIGTERM'] as const);
  // Until there is something to read again, a SIGHUP is passed over: left alone it would end the process.
  if (!isOnTerminal()) process.on('SIGHUP', () => undefined);
  return new Promise((resolve) => {
    for (const signal of signals) process.once(signal, () => resolve());
  });
}

/** Reads a configuration and checks it. @returns puts it in force. @throws Error that says what is wrong with it. */
export type PrepareReload = () => Promise<() => void> | (() => void);

/**
 * On each SIGHUP: everything is read and checked, and only where all of it is right is any of it put in force. One reload
 * at a time; signals that arrive meanwhile are one more.
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
