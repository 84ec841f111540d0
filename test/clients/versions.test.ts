// Consistency within each of the three packages of clients/: version, changelog and licence.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { projectRoot } from '../../kernel/project.ts';

function read(file: string): string {
  return readFileSync(path.join(projectRoot, file), 'utf8');
}

/** The capture of the expression. @throws Error if the file does not match. */
function captured(file: string, expression: RegExp): string {
  const found = expression.exec(read(file))?.[1];
  if (found === undefined) throw new Error(`${file} lacks ${expression.source}`);
  return found;
}

test('the changelog of each client begins with its version', (t) => {
  const { version } = JSON.parse(read('clients/typescript/package.json')) as { version: string };
  const entry = /^## (\d+\.\d+\.\d+)/m;
  t.is(captured('clients/typescript/CHANGELOG.md', entry), version);
  t.is(
    captured('clients/python/CHANGELOG.md', entry),
    captured('clients/python/almanac/version.py', /^__version__ = "(.+)"$/m),
  );
  t.is(
    captured('clients/r/NEWS.md', /^# almanacclient (\d+\.\d+\.\d+)/),
    captured('clients/r/DESCRIPTION', /^Version: (.+)$/m),
  );
});

test('the R client sends the version of its package, also as a file that is sourced', (t) => {
  const sent = captured('clients/r/R/almanac.R', /^almanac_version <- "(.+?)"/m);
  t.is(sent, captured('clients/r/DESCRIPTION', /^Version: (.+)$/m));
});

test('each client has the licence of the project', (t) => {
  for (const client of ['typescript', 'python', 'r'])
    t.is(read(`clients/${client}/LICENSE`), read('LICENSE'));
});

test('the TypeScript client compiles alone by the compiler of the project', (t) => {
  const compilers = ['package.json', 'clients/typescript/package.json'].map(
    (file) =>
      (JSON.parse(read(file)) as { devDependencies: { typescript: string } }).devDependencies.typescript,
  );
  t.is(compilers[1], compilers[0]);
});
