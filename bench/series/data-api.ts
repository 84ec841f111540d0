// The data-api alone as a measured server: `data-api.ts <database url> <identity secret>`.
import { start } from '../../data-api/main.ts';
import { systemClock } from '../../kernel/clock.ts';
import { createLog } from '../../kernel/log/log.ts';
import { serveMeasured } from '../instruments/server.ts';

const [databaseUrl = '', identitySecret = ''] = process.argv.slice(2);
const service = await start({
  databaseUrl,
  identitySecret,
  seriesTimeZone: 'UTC',
  publicUrl: 'http://localhost',
  host: '127.0.0.1',
  port: 0,
  log: createLog('bench', 'error'),
  clock: systemClock,
});
serveMeasured(service.url, () => service.close());
