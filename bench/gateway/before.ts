// Starts the previous version, which is measured in turn with this one: its accounts-api and gateways, on a database of its own with the same
// accounts.
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import pg from 'pg';
import { copyAccounts } from './accounts.ts';
import type { Ground, Run } from './ground.ts';
import { otherCore, targetCore, type Program } from './processes.ts';

export interface Before {
  accountsApi: Program;
  withRedis: Program;
  alone: Program;
}

/** @param checkout of that version, with its packages installed. */
export async function startBefore(run: Run, ground: Ground, checkout: string): Promise<Before> {
  const client = new pg.Client({ connectionString: ground.databaseUrl });
  await client.connect();
  await client.query('create database before');
  await client.end();
  const url = new URL(ground.databaseUrl);
  url.pathname = '/before';
  const DATABASE_URL = url.href;
  const program = path.join(checkout, 'almanac.js');
  const env = { ...ground.env, DATABASE_URL };
  execFileSync(process.execPath, [program, 'migrate'], { env: { ...process.env, ...env }, stdio: 'ignore' });
  await copyAccounts(ground.databaseUrl, DATABASE_URL);
  const start = (core: string, service: string, more: Record<string, string>) =>
    run.startProgram(core, program, service, { ...ground.env, ...more });
  const REDIS_URL = ground.redisUrl;
  const accountsApi = await start(otherCore, 'accounts-api', { ...env, REDIS_URL, ACCOUNTS_API_PORT: '0' });
  const own = {
    ...{
      PORT: '0',
      ACCOUNTS_API_URL: accountsApi.readyOutput,
      DATA_API_URL: ground.upstream.url,
      LOG_LEVEL: 'info',
    },
  };
  return {
    accountsApi,
    withRedis: await start(targetCore, 'gateway', { ...own, REDIS_URL }),
    alone: await start(targetCore, 'gateway', own),
  };
}
