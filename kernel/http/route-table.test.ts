import test from 'ava';
import { createRouteTable } from './route-table.ts';

const find = createRouteTable([
  { method: 'GET', path: '/v1/funds' },
  { method: 'GET', path: '/v1/funds/screener' },
  { method: 'GET', path: '/v1/funds/:id' },
  { method: 'DELETE', path: '/v1/funds/:id' },
  { method: 'GET', path: '/v1/funds/:id/nav' },
]);

function found(path: string): unknown {
  const match = find(path);
  return match === null
    ? null
    : {
        path: match.entries.get('GET')?.path,
        methods: [...match.entries.keys()],
        params: match.params,
      };
}

test('a path has the methods of all its routes, and the first matching route serves it', (t) => {
  t.deepEqual(found('/v1/funds'), { path: '/v1/funds', methods: ['GET'], params: {} });
  t.deepEqual(found('/v1/funds/screener'), { path: '/v1/funds/screener', methods: ['GET'], params: {} });
  t.deepEqual(found('/v1/funds/a'), {
    path: '/v1/funds/:id',
    methods: ['GET', 'DELETE'],
    params: { id: 'a' },
  });
});

test('a parameter matches one whole segment, which is decoded', (t) => {
  t.deepEqual(find('/v1/funds/A%2Fb/nav')?.params, { id: 'A/b' });
  t.throws(() => find('/v1/funds/%E0%A4%A/nav'), { instanceOf: URIError });
  t.is(find('/v1/funds//nav'), null);
});

test('a path in another letter case, with an extra slash or an extra segment is another path', (t) => {
  for (const path of [
    '/',
    '',
    '/v1',
    '/V1/funds',
    '/v1/funds/',
    '/v1/funds/a/',
    '/v1/funds/a/b',
    '//v1/funds',
    'x',
    'xv1/funds',
  ])
    t.is(find(path), null, path);
  t.deepEqual(find('/v1/funds/Ab')?.params, { id: 'Ab' });
});

test('of routes with the same length the first matching one serves, even if it has a parameter first', (t) => {
  const table = createRouteTable([
    { method: 'GET', path: '/v1/:kind/all' },
    { method: 'GET', path: '/v1/funds/:id' },
    { method: 'GET', path: '/:a/:b/:c' },
  ]);
  const pathOf = (path: string) => table(path)?.entries.get('GET')?.path;
  t.is(pathOf('/v1/funds/all'), '/v1/:kind/all');
  t.is(pathOf('/v1/funds/x'), '/v1/funds/:id');
  t.is(pathOf('/v2/funds/x'), '/:a/:b/:c');
  t.deepEqual(table('/v2/%41/x%25y')?.params, { a: 'v2', b: 'A', c: 'x%y' });
  t.is(table('/v2//x'), null);
  t.is(table('/v2/x'), null);
});

test('a path without a route for a method has no match', (t) => {
  t.deepEqual([...(find('/v1/funds')?.entries.keys() ?? [])], ['GET']);
  t.is(find('/v1/funds')?.entries.get('DELETE'), undefined);
});
