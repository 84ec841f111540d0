// Every example in the documentation runs, in a private installation with the demo data.
import { mkdirSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { projectRoot } from '../../kernel/project.ts';
import { examplesOf, runExample, startCommands } from './docs-examples.ts';
import { createInstallation } from '../services/instance.ts';

const installation = await createInstallation();
test.after.always(() => installation.remove()); // the process that runs the commands is one of the installation's
let apiKey: string | undefined;
let commandsUrl: string;
test.before(async () => {
  ({ apiKey } = await installation.start());
  commandsUrl = await startCommands(installation.env);
});

const pages = [
  'README.md',
  ...['docs', 'examples'].flatMap((folder) =>
    readdirSync(path.join(projectRoot, folder)).map((name) => `${folder}/${name}`),
  ),
].filter((name) => name.endsWith('.md'));

for (const page of pages) {
  const examples = examplesOf(page).filter(({ kind }) => kind !== 'python' && kind !== 'r'); // those are run by npm run try-clients
  if (examples.length === 0) continue;
  test.serial(`the ${examples.length} examples of ${page} run as they are`, async (t) => {
    const directory = path.join(path.dirname(installation.dataDir), page.replaceAll('/', '-'));
    mkdirSync(directory);
    for (const example of examples) {
      await runExample(example, {
        directory,
        url: installation.url,
        apiKey: apiKey ?? '',
        env: installation.env,
        commandsUrl,
      });
    }
    t.pass();
  });
}

test('every address of the spreadsheet guide answers with CSV', async (t) => {
  const guide = readFileSync(path.join(projectRoot, 'examples/spreadsheets.md'), 'utf8')
    .replaceAll('" & TEXT(A1, "yyyy-mm-dd")', '2026-09-30"')
    .replaceAll('pk_live_…', apiKey ?? '');
  const addresses = [...guide.matchAll(/https:\/\/api\.example\.org(\/[^"'\s]*\?[^"'\s]*)/g)];
  t.is(addresses.length, 4);
  for (const [, address = ''] of addresses) {
    const answer = await fetch(installation.url + address);
    const text = await answer.text();
    t.is(`${answer.status} ${answer.headers.get('content-type')}`, '200 text/csv; charset=utf-8', text);
    t.regex(text, /^(date|type),[^]*\r\n./);
  }
});

test('the pages have examples', (t) => {
  t.true(pages.flatMap(examplesOf).length > 10);
});
