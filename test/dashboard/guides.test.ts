// The guides as pages: their content, and that every link in them has a target.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { rendered, slugOf, textsOf } from '../../dashboard/build/guides.ts';
import { finderOf } from '../../dashboard/pages/docs/find.ts';
import { errorTable } from '../../kernel/errors.ts';
import { projectRoot } from '../../kernel/project.ts';

const docs = path.join(projectRoot, 'docs');
const pages = new Map(
  readdirSync(docs)
    .filter((name) => name.endsWith('.md'))
    .map((name) => [name.slice(0, -3), rendered(readFileSync(path.join(docs, name), 'utf8'))]),
);

test('the page of errors has a section of every code, under its name', (t) => {
  const html = pages.get('errors')?.html ?? '';
  for (const code of Object.keys(errorTable)) t.regex(html, new RegExp(`<h3 id="${code}">`), code);
});

test('every link between guides leads to a guide and a section that are there', (t) => {
  let count = 0;
  for (const [name, { html }] of pages) {
    for (const [, href = ''] of html.matchAll(/href="([^"]*)"/g)) {
      if (/^https?:/.test(href)) continue;
      const [, guide = name, section] = /^(?:\/docs\/([a-z-]+))?(?:#(.+))?$/.exec(href) ?? [];
      const target = pages.get(guide);
      t.truthy(target, `${name}: ${href}`);
      if (section !== undefined) t.true(target?.html.includes(`id="${section}"`), `${name}: ${href}`);
      count += 1;
    }
  }
  t.true(count > 50);
});

test('HTML in a guide is left out, and code stays text', (t) => {
  const { html, title, sections } = rendered(
    '# A title\n\n<script>alert(1)</script>\n\n## A `code` part\n\nsee <b onclick="x">this</b> `<i>`\n\n```html\n<script>\n```\n',
  );
  t.is(title, 'A title');
  t.deepEqual(sections, [{ id: 'a-code-part', title: 'A code part' }]);
  t.notRegex(html, /<script|onclick|<b|<i>/);
  t.regex(html, /&lt;script&gt;/);
});

test('a table without titles has no row of empty ones', (t) => {
  const rows = '|---|---|\n| one | two |';
  t.notRegex(rendered(`# A\n\n| | |\n${rows}`).html, /<th/);
  t.regex(rendered(`# A\n\n| a | |\n${rows}`).html, /<thead><tr><th>a<\/th><th><\/th><\/tr><\/thead>/);
});

test('anchors are those of GitHub, where the same files are read', (t) => {
  t.is(slugOf('Plans, prices & limits'), 'plans-prices--limits');
  t.is(slugOf('`invalid_cursor`'), 'invalid_cursor');
});

const texts = [...pages].flatMap(([id, page]) => textsOf(id, page));

test('every part of every guide can be found by the words of its heading', (t) => {
  const find = finderOf(texts);
  for (const { href, title, guide } of texts) {
    const found = find(`${title} ${guide}`).map((each) => each.href);
    t.true(found.includes(href), `${href} is not found by its heading`);
  }
});

test('a search finds words wherever they are, their beginnings and a mistyped one, and shows the text around them', (t) => {
  const find = finderOf([
    {
      href: '/docs/a#one',
      guide: 'A',
      title: 'One',
      text: `${'first words. '.repeat(30)}A vintage is a version.`,
    },
    { href: '/docs/a#two', guide: 'A', title: 'Vintages', text: 'What was published.' },
  ]);
  t.deepEqual(
    find('vintage').map(({ href }) => href),
    ['/docs/a#two', '/docs/a#one'],
  );
  t.regex(find('vintage version')[0]?.excerpt ?? '', /^… .*A vintage is a version\.$/);
  t.deepEqual(
    find('publ vint').map(({ href }) => href),
    ['/docs/a#two'],
  );
  t.deepEqual(
    find('vintaes published').map(({ href }) => href),
    ['/docs/a#two'],
  );
  t.deepEqual(find('vintage nowhere'), []);
});
