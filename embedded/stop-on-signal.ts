// Stops the embedded PostgreSQL after a command that a signal ends: Ctrl-C ends the command at once, and a server has its own process group.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const endingSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** From here on a signal that ends this process does this work first, which must not wait. @returns ends that. */
export function beforeSignalEnds(
  work: () => void,
  signals: readonly NodeJS.Signals[] = endingSignals,
): () => void {
  const stopListening = () => {
    for (const signal of signals) process.off(signal, end);
  };
  function end(signal: NodeJS.Signals): void {
    stopListening();
    work();
    process.kill(process.pid, signal);
  }
  for (const signal of signals) process.on(signal, end);
  return stopListening;
}

/**
 * From here on a signal that would end this process also stops the server, unless other processes use it. @returns ends that.
 * Signals that this process handles already are left to it.
 */
export function stopOnSignal(dataDir: string): () => void {
  const stopServer = () => {
    const program = fileURLToPath(new URL('stop-unused-main.ts', import.meta.url));
    spawn(process.execPath, [program, dataDir], { detached: true, stdio: 'ignore', cwd: '/' }).unref();
  };
  return beforeSignalEnds(
    stopServer,
    endingSignals.filter((signal) => process.listenerCount(signal) === 0),
  );
}
