// Which changes of the files result in another build.
import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { buildOf } from './project.ts';

const sources = {
  ...{ 'kernel/http/answer.ts': 'a', 'domain/periods.ts': 'b', 'data-api/series/series.ts': 'c' },
  ...{
    'accounts-api/main.ts': 'd',
    'data-api/image.mjs': 'e',
    'package.json': '{}',
    'package-lock.json': '{}',
  },
};

function tree(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(path.join(tmpdir(), 'almanac-tree-'));
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    writeFileSync(path.join(root, file), text);
  }
  return root;
}

test('a change of any source file or package results in another build', (t) => {
  const changes = Object.keys(sources).map((file) => ({ ...sources, [file]: 'changed' }));
  const { 'domain/periods.ts': moved, ...others } = sources;
  const builds = [sources, ...changes, others, { ...others, 'domain/renamed.ts': moved }]
    .map(tree)
    .map(buildOf);
  t.is(new Set(builds).size, builds.length);
});

test('a copy is the same build, as is a tree with other tests or documents', (t) => {
  const root = tree(sources);
  const copy = mkdtempSync(path.join(tmpdir(), 'almanac-copy-'));
  cpSync(root, copy, { recursive: true });
  t.is(buildOf(copy), buildOf(root));
  t.is(buildOf(tree({ ...sources, 'kernel/errors.test.ts': 'x', 'docs/api.md': 'x' })), buildOf(root));
});
