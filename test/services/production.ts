// The services as processes of their own, in the run that tests a set-up as in production (TEST_SET_UP=production): three data-apis that
// read from the replica, two accounts-apis, two gateways with a Redis Cluster, a balancer before each. Where a test has a clock, so have they.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { serviceUrl } from '../../migrations/roles.ts';
import { makeService, type Service, type ServiceName } from '../chaos/units.ts';
import { startBalancer } from '../production/balancer.ts';
import { testIdentitySecret, testRedisClusterUrl, testReplica, type FakeClock } from './harness.ts';
import { unhurriedPlansFile } from './instance.ts';

export interface Processes {
  /** Of the balancer before them. */
  url: string;
  /** Of each of them. */
  urls: string[];
  close(): Promise<void>;
}

export interface ProductionServices {
  /** Of the balancer before the gateways. */
  url: string;
  /** Of one instance each. */
  dataApiUrl: string;
  accountsApiUrl: string;
  close(): Promise<void>;
}

/** @param env more settings. @param clock theirs; without one, that of the machine. */
export async function startDataApis(
  databaseUrl: string,
  env: Record<string, string>,
  clock?: FakeClock,
): Promise<Processes> {
  const url = serviceUrl(databaseUrl, 'almanac_data_api');
  const own = { DATABASE_URL: url, DATABASE_READ_URL: testReplica(url)?.url ?? '', ...env };
  return startProcesses('data-api', 3, own, clock);
}

/** @param env more settings. @param clock theirs; without one, that of the machine. */
export async function startAccountsApis(
  databaseUrl: string,
  env: Record<string, string>,
  clock?: FakeClock,
): Promise<Processes> {
  const own = { DATABASE_URL: serviceUrl(databaseUrl, 'almanac_accounts_api'), ...env };
  return startProcesses('accounts-api', 2, own, clock);
}

/** @param env more settings, of all of them. */
export async function startProductionServices(
  databaseUrl: string,
  env: Record<string, string>,
): Promise<ProductionServices> {
  const withRedis = { REDIS_URL: testRedisClusterUrl() ?? '', PLANS_FILE: unhurriedPlansFile(), ...env };
  const [dataApis, accountsApis] = await Promise.all([
    startDataApis(databaseUrl, withRedis),
    startAccountsApis(databaseUrl, withRedis),
  ]);
  const gateways = await startProcesses('gateway', 2, {
    ...withRedis,
    ...{ DATA_API_URL: dataApis.urls.join(), ACCOUNTS_API_URL: accountsApis.urls.join() },
  });
  return {
    url: gateways.url,
    dataApiUrl: dataApis.urls[0] ?? '',
    accountsApiUrl: accountsApis.urls[0] ?? '',
    async close() {
      for (const processes of [gateways, dataApis, accountsApis]) await processes.close();
    },
  };
}

async function startProcesses(
  name: ServiceName,
  count: number,
  env: Record<string, string>,
  clock?: FakeClock,
): Promise<Processes> {
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-production-'));
  const over = new AbortController();
  const withClock = new Set(clock === undefined ? [] : [name]);
  const place = { directory, logDirectory: null, over: over.signal, withClock };
  const shared = {
    IDENTITY_SECRET: testIdentitySecret,
    LOG_LEVEL: 'silent',
    DATA_DIR: path.join(directory, 'data'),
  };
  const services: Service[] = await Promise.all(
    Array.from({ length: count }, (_, i) => makeService(name, i + 1, { ...shared, ...env }, place)),
  );
  clock?.follow((nowMs) => services.forEach((service) => service.standClock(nowMs)));
  const balancer = await startBalancer(5_000); // they are seldom asked: nothing stops here before the end
  const close = async () => {
    await balancer.close();
    await Promise.all(services.map((service) => service.stop()));
    over.abort();
    rmSync(directory, { recursive: true });
  };
  await Promise.all(services.map((service) => service.start())).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  for (const { url } of services) balancer.add(url);
  return { url: balancer.url, urls: services.map(({ url }) => url), close };
}
