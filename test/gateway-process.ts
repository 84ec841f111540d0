// A gateway in a process of its own, as a cluster runs it, for tests of several.
import { spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { projectRoot } from '../kernel/settings.ts';
import { testIdentitySecret } from './harness.ts';
import { keepLogLines } from './traces.ts';

export interface GatewayProcess {
  url: string;
  process: ChildProcess;
  /** Everything it printed. */
  output(): string;
  /** Sends the signal and waits. @returns the exit code, or null where the signal ended it. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** @param env its settings: DATA_API_URL and ACCOUNTS_API_URL at least. @throws Error with what it printed where it ends. */
export async function startGatewayProcess(env: Record<string, string>): Promise<GatewayProcess> {
  const child = spawn(process.execPath, [path.join(projectRoot, 'almanac.js'), 'start', 'gateway'], {
    env: {
      ...process.env,
      IDENTITY_SECRET: testIdentitySecret,
      PORT: '0',
      PUBLIC_CALLS_SECOND: '100000',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.once('close', () => keepLogLines(output));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const url = await new Promise<string>((resolve, reject) => {
    child.once('close', (code) => reject(new Error(`the gateway ended with ${code}:\n${output}`)));
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        const match = /gateway is running: (\S+)/.exec(output);
        if (match?.[1] !== undefined) resolve(match[1]);
      });
    }
  });
  return {
    url,
    process: child,
    output: () => output,
    stop(signal = 'SIGTERM') {
      child.kill(signal);
      return ended;
    },
  };
}
