// The pages stay short: words of prose, without tables, code, the changelog and the decisions.
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { projectRoot } from '../../kernel/project.ts';

/** The goal is 35,000. Lower this when pages have become shorter; do not raise it. */
const wordsMax = 33_500;

const pages = [
  ...['README.md', 'CONTRIBUTING.md', 'STYLE.md'],
  ...readdirSync(path.join(projectRoot, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

function wordsOf(text: string): number {
  const prose = text
    .replaceAll(/^ *```[^]*?^ *```/gm, '')
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('|'));
  return prose.join('\n').split(/\s+/).filter(Boolean).length;
}

test('code and tables are not counted', (t) => {
  t.is(wordsOf('one two\n\n```sh\nthree\n```\n\n| four | five |\n|---|---|\n- six'), 4);
  t.is(wordsOf('1. one\n   ```yaml\n   two\n   ```\n   three'), 3);
});

test('the pages have at most as many words as the limit', (t) => {
  const counts = pages.map((page) => ({
    page,
    words: wordsOf(readFileSync(path.join(projectRoot, page), 'utf8')),
  }));
  const total = counts.reduce((sum, { words }) => sum + words, 0);
  const longest = counts
    .toSorted((a, b) => b.words - a.words)
    .slice(0, 5)
    .map(({ page, words }) => `${page} ${words}`);
  t.true(
    total <= wordsMax,
    `${total} words, ${total - wordsMax} too many. The longest pages: ${longest.join(', ')}`,
  );
});
