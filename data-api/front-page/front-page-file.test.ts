import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { blocks, loadFrontPage } from './front-page-file.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
test.after.always(() => rmSync(folder, { recursive: true }));

const svg = '<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>';
writeFileSync(path.join(folder, 'logo.svg'), svg);
writeFileSync(path.join(folder, 'logo.PNG'), Buffer.from('\u0089PNG\r\n\u001a\n…', 'latin1'));
writeFileSync(path.join(folder, 'text.png'), 'text');
writeFileSync(path.join(folder, 'logo.gif'), 'GIF89a');
writeFileSync(path.join(folder, 'large.svg'), `<svg>${' '.repeat(64 * 1024)}</svg>`);

/** The result of loading a file with the text. */
function loaded(text: string) {
  const file = path.join(folder, 'front-page.yml');
  writeFileSync(file, text);
  return loadFrontPage(file);
}

test.serial('the file of the project and an empty file leave the page unchanged', (t) => {
  for (const page of [loadFrontPage(), loaded(''), loaded('# nothing\n')]) {
    const { edition, ...others } = page;
    t.true(edition.length > 0);
    t.deepEqual(others, {
      ...{ title: null, textHtml: null, logo: null, series: [], seriesTitle: null },
      blocks: [...blocks],
    });
  }
});

test.serial('a file sets the title, the text, the logo, the series and the blocks', (t) => {
  const { edition: _edition, ...page } = loaded(`
title: Statistics of Ruritania
text: |
  By the **Office**.
logo: { file: logo.svg, alt: The Office }
series: [GDP, CPI.M]
series_title: Key figures
blocks: [series, newest]
`);
  t.deepEqual(page, {
    title: 'Statistics of Ruritania',
    textHtml: '<p>By the <strong>Office</strong>.</p>',
    logo: {
      src: `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`,
      alt: 'The Office',
    },
    series: ['GDP', 'CPI.M'],
    seriesTitle: 'Key figures',
    blocks: ['series', 'newest'],
  });
  t.regex(loaded('logo: { file: logo.PNG, alt: x }').logo?.src ?? '', /^data:image\/png;base64,/);
});

test.serial('the edition changes with the file and with the logo', (t) => {
  const editions = ['', 'title: A', 'title: B', 'logo: { file: logo.svg, alt: x }'].map(
    (text) => loaded(text).edition,
  );
  writeFileSync(path.join(folder, 'logo.svg'), `${svg} `);
  editions.push(loaded('logo: { file: logo.svg, alt: x }').edition);
  t.is(new Set(editions).size, 5);
});

test.serial('what is wrong is refused by name', (t) => {
  for (const [text, expected] of [
    ['titel: A', /Unrecognized key: "titel"/],
    ['title: ""', /title/],
    ['title: [A]', /title/],
    ['series: [A, A]', /has an id twice[^]*series/],
    ['series: [A b]', /is not the id of a series[^]*series\[0\]/],
    ['blocks: [newst]', /blocks\[0\]/],
    ['blocks: [newest, newest]', /has a block twice[^]*blocks/],
    ['logo: logo.svg', /logo/],
    ['logo: { file: logo.svg }', /logo\.alt/],
    ['logo: { file: none.svg, alt: x }', /logo\.file .*none\.svg cannot be read/],
    ['logo: { file: logo.gif, alt: x }', /logo\.file .*logo\.gif must be \.svg, \.png, \.jpg or \.webp/],
    ['logo: { file: text.png, alt: x }', /logo\.file .*text\.png is not an image of the type image\/png/],
    [
      'logo: { file: large.svg, alt: x }',
      /logo\.file .*large\.svg is \d+ bytes; the limit for a logo is 65536 bytes/,
    ],
    ['title: [', /at line 1/],
    ['- title', /expected object/],
  ] as const) {
    const error = t.throws(() => loaded(text), undefined, text);
    t.true(error.message.startsWith(path.join(folder, 'front-page.yml: ')), error.message);
    t.regex(error.message, expected);
  }
  t.throws(() => loadFrontPage(path.join(folder, 'none.yml')), { message: /none\.yml/ });
});
