// Starts the data-api: the service that reads schema `data`. It holds no state; any number of instances may run.
import { openDatabase } from '../kernel/database.ts';
import type { Clock } from '../kernel/clock.ts';
import { startService, type RunningService } from '../kernel/http/server.ts';
import { createOpener } from '../kernel/identity.ts';
import type { Log } from '../kernel/log.ts';
import { createCursors } from '../kernel/http/cursor.ts';
import { createResponseCache } from '../kernel/http/response-cache.ts';
import { createUrlValidatorCache } from './url-validator-cache.ts';
import { toRoutes } from './endpoint.ts';
import { endpoints } from './routes.ts';
import { createSeriesFacts } from './series/series-facts.ts';

interface DataApiOptions {
  /** The primary database or a read replica. */
  databaseUrl: string;
  /** Verifies the gateway's tokens and seals the page cursors; the same for every data-api of an installation. */
  identitySecret: string;
  /** The previous secret, which gateways may still seal with while the secret is being replaced. */
  previousIdentitySecret?: string | undefined;
  /** The publisher's time zone, an IANA name. */
  seriesTimeZone: string;
  host: string;
  port: number;
  log: Log;
  clock: Clock;
}

export async function start(options: DataApiOptions): Promise<RunningService> {
  const { databaseUrl, identitySecret, seriesTimeZone, host, port, log, clock } = options;
  const database = openDatabase(databaseUrl, log, { applicationName: 'almanac data-api' });
  const seriesFacts = createSeriesFacts(database);
  const service = await startService({
    log,
    routes: toRoutes(endpoints, {
      database,
      cursors: createCursors(identitySecret),
      seriesFacts,
      responseCache: createResponseCache(),
      urlValidatorCache: createUrlValidatorCache(seriesFacts, clock),
      clock,
      seriesTimeZone,
      log,
    }),
    openIdentity: createOpener(identitySecret, 'data-api', options.previousIdentitySecret),
    ready: async () => void (await database.query('select')),
    host,
    port,
  });
  return {
    url: service.url,
    async close() {
      await service.close();
      await database.close();
    },
  };
}
