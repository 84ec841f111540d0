// The page after sign-in: for any URL it is one of this site, and the browser can show it.
import test from 'ava';
import fc from 'fast-check';
import { safePage } from '../../dashboard/api/safe-page.ts';

const origin = 'https://almanac.example';

test('any return_to leads the browser to a page of this site', (t) => {
  for (const wanted of [
    ...[
      '/.//evil.example',
      '/..//evil.example',
      '/a/..//evil.example',
      '/%2e//evil.example',
      '/.//',
      '/.////x',
    ],
    ...[
      '//evil.example',
      '/\\evil.example',
      '/.\\\\evil.example',
      '//[',
      '/\t/evil.example',
      'https://evil.example',
    ],
    ...['javascript:alert(1)', '', 'dashboard'],
  ])
    t.is(safePage(wanted, origin), '/dashboard', wanted);
  t.is(safePage(null, origin), '/dashboard');

  const parts = fc.constantFrom(
    '/',
    '\\',
    '.',
    '..',
    '%2e',
    '//',
    ':',
    '@',
    '?',
    '#',
    '[',
    'evil.example',
    '\t',
    '\n',
    ' ',
    'a',
  );
  const wanted = fc.oneof(
    fc.string(),
    fc.array(parts).map((each) => `/${each.join('')}`),
  );
  fc.assert(
    fc.property(wanted, (each) => {
      const page = safePage(each, origin);
      t.is(URL.parse(page, `${origin}/sign-in`)?.origin, origin, page);
    }),
    { numRuns: 2_000 },
  );
});

test('a page of the dashboard is reached with its query', (t) => {
  for (const page of ['/dashboard/keys', '/series/A%2FB?dims=a:b&from=2024', '/', '/docs//api'])
    t.is(safePage(page, origin), page);
});
