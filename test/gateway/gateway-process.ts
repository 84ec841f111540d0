// A gateway in its own process, as in a cluster, for tests with several.
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { projectRoot } from '../../kernel/project.ts';
import { testIdentitySecret } from '../services/harness.ts';
import { startServing } from '../run/processes.ts';
import { saveLogLines } from '../run/traces.ts';

export interface GatewayProcess {
  url: string;
  process: ChildProcess;
  /** Its whole output. */
  output(): string;
  /** Sends the signal and waits. @returns the exit code, or null if the signal ended it. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** @param env its settings: at least DATA_API_URL and ACCOUNTS_API_URL. @throws Error with its output if it ends. */
export async function startGatewayProcess(env: Record<string, string>): Promise<GatewayProcess> {
  const words = [path.join(projectRoot, 'almanac.js'), 'start', 'gateway'];
  const gateway = await startServing(/gateway is running: (\S+)/, process.execPath, words, {
    name: 'gateway',
    env: {
      ...process.env,
      DASHBOARD: 'off',
      IDENTITY_SECRET: testIdentitySecret,
      PORT: '0',
      JOURNAL_DIR: mkdtempSync(path.join(tmpdir(), 'almanac-journal-')), // the run removes it
      PUBLIC_CALLS_SECOND: '100000',
      MANAGEMENT_CALLS_SECOND: '100000',
      ...env,
    },
  });
  void gateway.ended.then(() => saveLogLines(gateway.output()));
  return {
    url: gateway.ready[1] ?? '',
    process: gateway.process,
    output: gateway.output,
    stop: gateway.end,
  };
}
