// The guides as pages: what they become, and that every link in them leads somewhere.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { rendered, slugOf } from '../../dashboard/build/guides.ts';
import { errorTable } from '../../kernel/errors.ts';
import { projectRoot } from '../../kernel/project.ts';

const guides = ['api', 'transforms', 'funds', 'errors', 'accounts', 'webhooks', 'events', 'follow'];
const forOperators = [
  'publish',
  'recognised',
  'ingest',
  'corrections',
  'embargo',
  'operator',
  'operations',
  'billing',
  'security',
  'performance',
  'architecture',
];
const pages = new Map(
  [...guides, ...forOperators].map((name) => [
    name,
    rendered(readFileSync(path.join(projectRoot, `docs/${name}.md`), 'utf8')),
  ]),
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

test('anchors are those of GitHub, where the same files are read', (t) => {
  t.is(slugOf('Plans, prices & limits'), 'plans-prices--limits');
  t.is(slugOf('`invalid_cursor`'), 'invalid_cursor');
});
