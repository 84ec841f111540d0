import test from 'ava';
import { z } from 'zod';
import { Failure } from './errors.ts';
import {
  booleanParam,
  integerParam,
  nearestName,
  oneOfParam,
  parseBody,
  parseQuery,
  periodParam,
  repeatableParam,
} from './params.ts';

const schema = z.object({
  from: periodParam.optional(),
  limit: integerParam(1, 1000).default(100),
  sort: oneOfParam(['asc', 'desc']).default('asc'),
  dims: repeatableParam(z.string()).optional(),
  flag: booleanParam.optional(),
});

test('a query becomes typed values, with defaults', (t) => {
  t.deepEqual(parseQuery(schema, '/x?from=2024-Q1&dims=a:b&dims=c:d&flag=true'), {
    from: { from: '2024-01-01', to: '2024-03-31' },
    limit: 100,
    sort: 'asc',
    dims: ['a:b', 'c:d'],
    flag: true,
  });
});

test('every fault in a query is a 400 that names the parameter and what is allowed', (t) => {
  const faults: [string, string, RegExp][] = [
    ['limit=0', 'limit', /from 1 to 1000/],
    ['limit=1e3', 'limit', /whole number/],
    ['limit=', 'limit', /empty/],
    ['limit=1&limit=2', 'limit', /once/],
    ['sort=up', 'sort', /asc, desc/],
    ['from=2024-02-30', 'from', /exists/],
    ['limt=5', 'limt', /Did you mean "limit"/],
    ['limit[]=5', 'limit[]', /not a parameter/],
    ['__proto__=5', '__proto__', /not a parameter/],
    ['sort=a%00b', 'sort', /control/],
    [`sort=${'a'.repeat(3000)}`, 'sort', /longer/],
    ['flag=yes', 'flag', /true, false/],
  ];
  for (const [query, param, message] of faults) {
    const failure = t.throws(() => parseQuery(schema, `/x?${query}`), { instanceOf: Failure }, query);
    t.is(failure?.code, 'invalid_parameter', query);
    t.is(failure?.param, param, query);
    t.regex(failure?.message ?? '', message, query);
  }
});

test('a required parameter that is not there is named', (t) => {
  const failure = t.throws(() => parseQuery(z.object({ q: z.string() }), '/x'), { instanceOf: Failure });
  t.regex(failure?.message ?? '', /"q" is required/);
});

test('a body with a field too many, of the wrong type or that is no object is a 400 that names it', (t) => {
  const body = z.strictObject({ name: z.string().min(1) });
  t.deepEqual(parseBody(body, { name: 'a' }), { name: 'a' });
  for (const [value, param] of [
    [{ name: 'a', plan: 'pro' }, 'plan'],
    [{ name: 5 }, 'name'],
    [{}, 'name'],
  ] as const) {
    t.is(t.throws(() => parseBody(body, value), { instanceOf: Failure })?.param, param);
  }
  for (const value of [null, undefined, [], 'text', 5]) {
    t.is(t.throws(() => parseBody(body, value), { instanceOf: Failure })?.code, 'invalid_body');
  }
});

test('the nearest name is offered only where it is near', (t) => {
  t.is(nearestName('transfrom', ['transform', 'from']), 'transform');
  t.is(nearestName('zzz', ['transform', 'from']), undefined);
});
