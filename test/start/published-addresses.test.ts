// The addresses that almanac publish prints: they answer when it has printed them.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { createInstallation } from '../services/instance.ts';

const csv = ['Date,Rate', '2024-01-31,1', '2024-02-29,2', '2024-03-31,3', ''].join('\n');

test('almanac publish prints an address only if it answers, and otherwise names the series and what to start', async (t) => {
  const installation = await createInstallation();
  t.teardown(() => installation.remove());
  const publish = (id: string) => {
    const file = path.join(installation.dataDir, '..', `${id}.csv`);
    writeFileSync(file, csv);
    return installation.almanac('publish', file, '--yes', '--set', 'source=Tests', '--set', 'unit=Percent');
  };
  const { apiKey = '', stop } = await installation.start();
  const { PORT: port } = installation.env;
  installation.env['PORT'] = ''; // the command is run in another terminal, which has no settings but the directory
  const served = await publish('served');
  installation.env['PORT'] = port;
  const [, printed = ''] = /^ {2}(http\S+)$/m.exec(served) ?? [];
  t.is(printed, `${installation.url}/v1/series/served`, served);
  t.is((await fetch(printed, { headers: { 'x-api-key': apiKey } })).status, 200);
  await stop();

  const unserved = await publish('unserved');
  t.notRegex(unserved, /\/v1\/series\/unserved\?|^ {2}http/m);
  t.true(
    unserved.includes(`Stored: unserved. ${installation.url} does not serve them: start Almanac there`),
    unserved,
  );
});
