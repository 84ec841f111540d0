// The signals that a running service handles: graceful stop, and reload of the configuration.
import { isatty } from 'node:tty';
import type { Log } from '../../kernel/log/log.ts';

/** Reads and checks a configuration. @returns applies it. @throws Error with its faults. */
export type PrepareReload = () => Promise<() => void> | (() => void);

/** The signals of a running service. */
export interface ServiceSignals {
  /**
   * Resolves on Ctrl-C or SIGTERM. SIGHUP makes a service reload its configuration; for a program on a terminal it means that the terminal
   * has closed, so there it also stops the program. Further signals have no effect: Ctrl-C comes from the terminal and again from npm, and
   * the embedded PostgreSQL would outlive a process that ended at the second.
   */
  stopped: Promise<void>;
  /**
   * On each SIGHUP: reads and checks all parts, and applies them only if all are valid. One reload
   * at a time; signals that arrive meanwhile cause one more.
   */
  reloadOnHangUp(parts: readonly PrepareReload[], log: Log): void;
}

/** Handles signals until the service has stopped or failed to start; then the previous listeners are restored. */
export async function withSignals(serve: (signals: ServiceSignals) => Promise<void>): Promise<void> {
  const listeners: (readonly [signal: NodeJS.Signals, listener: () => void])[] = [];
  const listen = (signal: NodeJS.Signals, listener: () => void) => {
    process.on(signal, listener);
    listeners.push([signal, listener]);
  };
  const { promise: stopped, resolve } = Promise.withResolvers<void>();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) listen(signal, resolve);
  // Elsewhere SIGHUP is ignored until there is something to reload; without a listener it would end the process.
  listen('SIGHUP', isOnTerminal() ? resolve : () => undefined);
  try {
    await serve({
      stopped,
      reloadOnHangUp: (parts, log) => {
        if (!isOnTerminal()) listen('SIGHUP', reloading(parts, log));
      },
    });
  } finally {
    for (const [signal, listener] of listeners) process.off(signal, listener);
  }
}

function reloading(parts: readonly PrepareReload[], log: Log): () => void {
  let wanted = false;
  let isReloading = false;
  async function reload(): Promise<void> {
    isReloading = true;
    while (wanted) {
      wanted = false;
      try {
        const swaps: (() => void)[] = [];
        for (const prepare of parts) swaps.push(await prepare());
        for (const swap of swaps) swap();
        log.info('The configuration was reloaded and is active');
      } catch (error) {
        log.error({ err: error }, 'The configuration is invalid; the previous one stays active');
      }
    }
    isReloading = false;
  }
  return () => {
    wanted = true;
    if (!isReloading) void reload();
  };
}

function isOnTerminal(): boolean {
  return isatty(0) || isatty(1);
}
