// The services as processes of their own, in the run that tests a set-up as in production (TEST_SET_UP=production): three data-apis that
// read from the replica, two accounts-apis, two gateways with a Redis Cluster, a balancer before them.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { serviceUrl } from '../../migrations/roles.ts';
import { makeService, type Service, type ServiceName } from '../chaos/units.ts';
import { startBalancer } from '../production/balancer.ts';
import { testIdentitySecret, testRedisClusterUrl, testReplica } from './harness.ts';
import { unhurriedPlansFile } from './instance.ts';

export interface ProductionServices {
  /** Of the balancer before the gateways. */
  url: string;
  /** Of one instance each. */
  dataApiUrl: string;
  accountsApiUrl: string;
  close(): Promise<void>;
}

/** @param env more settings, of all of them. */
export async function startProductionServices(
  databaseUrl: string,
  env: Record<string, string>,
): Promise<ProductionServices> {
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-production-'));
  const over = new AbortController();
  const data = serviceUrl(databaseUrl, 'almanac_data_api');
  const shared = {
    ...{ IDENTITY_SECRET: testIdentitySecret, PLANS_FILE: unhurriedPlansFile(), LOG_LEVEL: 'silent' },
    ...{ REDIS_URL: testRedisClusterUrl() ?? '', DATA_DIR: path.join(directory, 'data'), ...env },
  };
  const services: Service[] = [];
  const start = (name: ServiceName, count: number, own: Record<string, string>) =>
    Promise.all(
      Array.from({ length: count }, async (_, i) => {
        const place = { directory, logDirectory: null, over: over.signal };
        const service = await makeService(name, i + 1, { ...shared, ...own }, place);
        services.unshift(service); // the gateways, which start last, are stopped first
        await service.start();
        return service;
      }),
    );
  const [dataApis, accountsApis] = await Promise.all([
    start('data-api', 3, { DATABASE_URL: data, DATABASE_READ_URL: testReplica(data)?.url ?? '' }),
    start('accounts-api', 2, { DATABASE_URL: serviceUrl(databaseUrl, 'almanac_accounts_api') }),
  ]);
  const urlsOf = (instances: readonly Service[]) => instances.map(({ url }) => url).join();
  const gateways = await start('gateway', 2, {
    DATA_API_URL: urlsOf(dataApis),
    ACCOUNTS_API_URL: urlsOf(accountsApis),
  });
  const balancer = await startBalancer();
  for (const { url } of gateways) balancer.add(url);
  return {
    url: balancer.url,
    dataApiUrl: dataApis[0]?.url ?? '',
    accountsApiUrl: accountsApis[0]?.url ?? '',
    async close() {
      await balancer.close();
      for (const service of services) await service.stop();
      over.abort();
    },
  };
}
