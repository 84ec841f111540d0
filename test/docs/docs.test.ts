// Every example in the documentation runs, in a private installation with the demo data.
import { mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { projectRoot } from '../../kernel/settings.ts';
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
  ...readdirSync(path.join(projectRoot, 'docs')).map((name) => `docs/${name}`),
].filter((name) => name.endsWith('.md'));

for (const page of pages) {
  const examples = examplesOf(page).filter((example) => example.kind !== 'python'); // those are run by npm run try-clients
  if (examples.length === 0) continue;
  test.serial(`the ${examples.length} examples of ${page} run as they stand`, async (t) => {
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

test('the pages have examples', (t) => {
  t.true(pages.flatMap(examplesOf).length > 10);
});
