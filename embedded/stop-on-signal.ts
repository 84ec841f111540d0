// Stops the embedded PostgreSQL after a command that a signal ends: Ctrl-C ends the command at once, and a server has its own process group.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * From here on a signal that would end this process also stops the server, unless other processes use it. @returns ends that.
 * Signals that this process handles already are left to it.
 */
export function stopOnSignal(dataDir: string): () => void {
  const own = signals.filter((signal) => process.listenerCount(signal) === 0);
  const stopListening = () => {
    for (const signal of own) process.off(signal, end);
  };
  function end(signal: NodeJS.Signals): void {
    stopListening();
    const program = fileURLToPath(new URL('stop-unused-main.ts', import.meta.url));
    spawn(process.execPath, [program, dataDir], { detached: true, stdio: 'ignore', cwd: '/' }).unref();
    process.kill(process.pid, signal);
  }
  for (const signal of own) process.on(signal, end);
  return stopListening;
}
