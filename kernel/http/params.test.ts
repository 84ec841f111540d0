import test, { type ExecutionContext } from 'ava';
import { z } from 'zod';
import { Failure } from '../errors.ts';
import {
  booleanParam,
  dateParam,
  idsParam,
  integerParam,
  nearestName,
  oneOfParam,
  parseArguments,
  parseBody,
  parseQuery,
  periodParam,
  repeatableParam,
  someOfParam,
  windowOf,
  windowParams,
} from './params.ts';

const schema = z.object({
  from: periodParam.optional(),
  day: dateParam.optional(),
  limit: integerParam(1, 1000).default(100),
  sort: oneOfParam(['asc', 'desc']).default('asc'),
  dims: repeatableParam(z.string()).optional(),
  flag: booleanParam.optional(),
});

test('a query is parsed into typed values, with defaults', (t) => {
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
    ['day=2024-02-30', 'day', /must be a date, YYYY-MM-DD, that exists/],
    ['day=2024-02', 'day', /must be a date, YYYY-MM-DD, that exists/],
    ['sort=up', 'sort', /^"sort" is "up", but must be one of asc, desc\.$/],
    ['sort=des', 'sort', /must be one of asc, desc\. Did you mean "desc"\?$/],
    ['dims=a:b&start=2024', 'start', /Did you mean "from"\?/],
    ['observation_start=2024', 'observation_start', /Did you mean "from"\?/],
    ['per_page=5', 'per_page', /Did you mean "limit"\?/],
    ['units=pch', 'units', /endpoint\. Known names/],
    [
      'from=2024-02-30',
      'from',
      /^"from" is "2024-02-30", but must be a date that exists, YYYY-MM-DD, or a period: 2024, 2024-H1, 2024-Q1, 2024-03/,
    ],
    ['limt=5', 'limt', /Did you mean "limit"/],
    ['limit[]=5', 'limit[]', /not a parameter/],
    ['__proto__=5', '__proto__', /not a parameter/],
    ['sort=a%00b', 'sort', /control/],
    [`sort=${'a'.repeat(3000)}`, 'sort', /longer/],
    ['flag=yes', 'flag', /must be one of true, false/],
  ];
  for (const [query, param, message] of faults) {
    const failure = t.throws(() => parseQuery(schema, `/x?${query}`), { instanceOf: Failure }, query);
    t.is(failure?.code, 'invalid_parameter', query);
    t.is(failure?.param, param, query);
    t.regex(failure?.message ?? '', message, query);
  }
});

test('a window is parsed into its days, is open without an end, and is refused if its ends are in the wrong order', (t) => {
  const asked = (query: string) => windowOf(parseQuery(z.object(windowParams), `/x?${query}`));
  t.deepEqual(asked('from=2024&to=2024-Q1'), { from: '2024-01-01', to: '2024-03-31' });
  t.deepEqual(asked('from=2024-03-31&to=2024-03-31'), { from: '2024-03-31', to: '2024-03-31' });
  t.deepEqual(asked('to=2024'), { from: undefined, to: '2024-12-31' });
  const failure = t.throws(() => asked('from=2024-04&to=2024-03'), { instanceOf: Failure });
  t.is(failure.param, 'from');
  t.is(failure.message, '"from" must not be after "to".');
});

test('words and ids are separated by commas: words are returned in their own order, ids must be distinct and not empty', (t) => {
  const lists = z.object({
    fields: someOfParam(['date', 'value', 'dims']),
    ids: idsParam('city', 2).optional(),
  });
  t.deepEqual(parseQuery(lists, '/x?fields=dims,date,dims&ids=b,a'), {
    fields: ['date', 'dims'],
    ids: ['b', 'a'],
  });
  t.throws(() => parseQuery(lists, '/x?fields=date,'), {
    message: /"fields" is "date,", but must be one or more of date, value, dims,/,
  });
  for (const ids of ['a,a', 'a,', ',', 'a,b,c'])
    t.throws(
      () => parseQuery(lists, `/x?fields=date&ids=${ids}`),
      { message: /"ids" is ".*", but must be 1 to 2 different city ids/ },
      ids,
    );
});

test('a missing required parameter is named', (t) => {
  const failure = t.throws(() => parseQuery(z.object({ q: z.string() }), '/x'), { instanceOf: Failure });
  t.regex(failure?.message ?? '', /"q" is required/);
});

test('a body with an unknown field, a field of the wrong type, or that is not an object is a 400 that names it', (t) => {
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

test('a value that is not UTF-8 is refused, and never read as other text', (t) => {
  const schema = z.object({ q: z.string() });
  t.is(parseQuery(schema, '/?q=%C3%A9%E2%82%AC').q, 'é€');
  for (const bytes of ['%FF', 'a%E9b', '%C3', '%E2%82', '%ED%A0%80', '%C0%AF']) {
    const { param, message } = faultOf(t, () => parseQuery(schema, `/?q=${bytes}`));
    t.is(param, 'q');
    t.regex(message, /UTF-8/, bytes);
  }
});

test('the nearest name is suggested only if it is near', (t) => {
  t.is(nearestName('transfrom', ['transform', 'from']), 'transform');
  t.is(nearestName('zzz', ['transform', 'from']), undefined);
  t.is(nearestName('5', ['1', '2']), undefined);
  t.is(nearestName('qq', ['q']), 'q');
});

function faultOf(t: ExecutionContext, work: () => unknown): { param: string | undefined; message: string } {
  const failure = t.throws(work, { instanceOf: Failure });
  t.is(failure.status, 400);
  return { param: failure.param, message: failure.message };
}

test('a whole number is accepted at both ends of its range and refused just outside', (t) => {
  const numbers = z.object({ n: integerParam(-5, 1000) });
  for (const [text, n] of [
    ['-5', -5],
    ['0', 0],
    ['1000', 1000],
    ['007', 7],
  ] as const) {
    t.deepEqual(parseQuery(numbers, `/x?n=${text}`), { n });
  }
  for (const text of ['-6', '1001', '1.5', '%2B5', '0x10', '5%20', '--5', '9'.repeat(16)]) {
    t.regex(faultOf(t, () => parseQuery(numbers, `/x?n=${text}`)).message, /from -5 to 1000/, text);
  }
  const large = z.object({ n: integerParam(0, Number.MAX_SAFE_INTEGER) });
  t.deepEqual(parseQuery(large, `/x?n=${'9'.repeat(15)}`), { n: 999_999_999_999_999 });
  t.throws(() => parseQuery(large, `/x?n=1${'0'.repeat(15)}`));
});

test('a value may have 2,000 characters, or as many as its schema says', (t) => {
  const texts = z.object({ q: z.string(), long: z.string().meta({ lengthMax: 3_000 }).optional() });
  t.is(parseQuery(texts, `/x?q=${'a'.repeat(2_000)}`).q.length, 2_000);
  t.deepEqual(
    faultOf(t, () => parseQuery(texts, `/x?q=${'a'.repeat(2_001)}`)),
    {
      param: 'q',
      message: '"q" must not be longer than 2000 characters.',
    },
  );
  const bounded = z.object({ q: z.string().meta({ lengthMax: 3_000 }) });
  t.is(parseQuery(bounded, `/x?q=${'a'.repeat(3_000)}`).q.length, 3_000);
  t.regex(faultOf(t, () => parseQuery(bounded, `/x?q=${'a'.repeat(3_001)}`)).message, /3000 characters/);
});

test('no control character passes, and every other character does', (t) => {
  const texts = z.object({ q: z.string() });
  for (const code of [0, 1, 9, 10, 13, 0x1f, 0x7f]) {
    const query = `/x?q=a${encodeURIComponent(String.fromCharCode(code))}b`;
    t.regex(faultOf(t, () => parseQuery(texts, query)).message, /control characters/, String(code));
  }
  for (const text of [' ', '~', '\u0080', 'é', '日本', '😀', '&=?#']) {
    t.is(parseQuery(texts, `/x?q=${encodeURIComponent(text)}`).q, text);
  }
});

test('a parameter that may be repeated is a list, whether it has a default or a transform', (t) => {
  const lists = z.object({
    a: repeatableParam(z.string()),
    b: repeatableParam(z.string()).default(['none']),
    c: repeatableParam(z.string())
      .transform((items) => items.length)
      .optional(),
  });
  t.deepEqual(parseQuery(lists, '/x?a=1'), { a: ['1'], b: ['none'] });
  t.deepEqual(parseQuery(lists, '/x?a=1&b=2&b=3&c=4&c=5&a=6'), { a: ['1', '6'], b: ['2', '3'], c: 2 });
});

test('only the text after the first question mark is the query', (t) => {
  const one = z.object({ q: z.string().optional() });
  t.deepEqual(parseQuery(one, '/x'), {});
  t.deepEqual(parseQuery(one, '/x?'), {});
  t.deepEqual(parseQuery(one, '/q=1?q=a?b'), { q: 'a?b' });
  t.regex(faultOf(t, () => parseQuery(z.object({}), '/x?q=1')).message, /None are allowed here/);
});

test('client text is shown shortened and without control characters', (t) => {
  const name = `\u0000\u001f\u007f${'é'.repeat(100)}`;
  const shown = `???${'é'.repeat(61)}`;
  t.is(faultOf(t, () => parseQuery(z.object({}), `/x?${encodeURIComponent(name)}=1`)).param, shown);
  t.is(faultOf(t, () => parseBody(z.strictObject({}), { [name]: 1 })).param, shown);
});

test('a body that is not an object is refused, whatever the schema', (t) => {
  for (const body of [[], [{}], null, 'text', 5]) {
    t.is(faultOf(t, () => parseBody(z.unknown(), body)).message, 'The body must be a JSON object.');
  }
});

test('a fault of several fields together is a fault of the body', (t) => {
  const body = z.strictObject({}).refine(() => false, 'must have "name" or "plan"');
  const { message, param } = faultOf(t, () => parseBody(body, {}));
  t.is(message, 'The body must have "name" or "plan".');
  t.is(param, undefined);
});

test('a body is refused in plain words also where a schema has none of its own', (t) => {
  const body = z.strictObject({
    text: z.string().min(2).max(3),
    count: z.int().max(5).optional(),
    list: z.array(z.string()).max(1).optional(),
    set: z.record(z.string(), z.string()).optional(),
    interval: z.enum(['month', 'year']).optional(),
    type: z.literal('key').optional(),
    flag: z.boolean().optional(),
    day: z.iso.date().optional(),
  });
  for (const [wrong, message] of [
    [{ text: undefined }, '"text" is required.'],
    [{ text: null }, '"text" must be text.'],
    [{ text: 'a' }, '"text" must have at least 2 characters.'],
    [{ text: 'abcd' }, '"text" must have at most 3 characters.'],
    [{ count: 'x' }, '"count" must be a number.'],
    [{ count: 1.5 }, '"count" must be a whole number.'],
    [{ count: 6 }, '"count" must be at most 5.'],
    [{ list: {} }, '"list" must be a list.'],
    [{ list: [5] }, '"list.0" must be text.'],
    [{ list: ['a', 'b'] }, '"list" must have at most 1 item.'],
    [{ set: null }, '"set" must be an object.'],
    [{ interval: 'mnth' }, '"interval" is "mnth", but must be one of month, year. Did you mean "month"?'],
    [{ interval: 7 }, '"interval" must be one of month, year.'],
    [{ type: 'x' }, '"type" is "x", but must be key.'],
    [
      { tex: 'a' },
      '"tex" is not a known field. Did you mean "text"? Known names: text, count, list, set, interval, type, flag, day.',
    ],
    [{ flag: 1 }, '"flag" must be true or false.'],
    [{ day: '2024-02-30' }, '"day" must be a date, YYYY-MM-DD, that exists.'],
  ] as const)
    t.is(faultOf(t, () => parseBody(body, { text: 'ab', ...wrong })).message, message);
});

test('a missing field is required, by its rule if the schema has one', (t) => {
  const body = z.strictObject({ name: z.string({ error: 'must be a name' }) });
  t.is(faultOf(t, () => parseBody(body, {})).message, '"name" is required: it must be a name.');
  t.is(faultOf(t, () => parseBody(body, { name: 5 })).message, '"name" must be a name.');
});

test('a fault deep in a body is named by its path, and by the id of the item of a list', (t) => {
  const item = z.strictObject({ id: z.string().optional(), n: z.int({ error: 'must be whole' }) });
  const body = z.strictObject({ id: z.string().optional(), list: z.array(item) });
  for (const [wrong, param, message] of [
    [{ n: 1.5 }, 'list.1.n', '"list.1.n" must be whole.'],
    [{ n: 1.5, id: 'GDP' }, 'list.1.n', '"list.1.n" of "GDP" must be whole.'],
    [{ n: 1, m: 2, id: 'GDP' }, 'list.1.m', '"list.1.m" of "GDP" is not a known field.'],
    [5, 'list.1', '"list.1" must be an object.'],
  ] as const) {
    const refused = faultOf(t, () => parseBody(body, { id: 'whole', list: [{ n: 1 }, wrong] }));
    t.deepEqual(refused, { param, message });
  }
  t.is(faultOf(t, () => parseBody(body, { id: 'whole', list: 1 })).message, '"list" must be a list.');
});

test('arguments of a tool are refused as bodies are, as parameters', (t) => {
  const schema = z.strictObject({ q: z.string(), type: z.enum(['series', 'fund']).optional() });
  const refused = (given: object) => t.throws(() => parseArguments(schema, given), { instanceOf: Failure });
  t.like(refused({}), { code: 'invalid_parameter', param: 'q', message: '"q" is required.' });
  t.is(refused({ q: 'a', type: 'bond' }).message, '"type" is "bond", but must be one of series, fund.');
  t.is(
    refused({ query: 'a' }).message,
    '"query" is not a known argument. Did you mean "q"? Known names: q, type.',
  );
});

test('the nearest name is suggested, in any letter case, unless it differs by more than a third', (t) => {
  t.is(nearestName('fro', ['form', 'from', 'fro1']), 'from');
  t.is(nearestName('transfor', ['transfrom', 'transform']), 'transform');
  t.is(nearestName('LIMIT', ['limit']), 'limit');
  t.is(nearestName('q1', ['q']), 'q'); // one letter may always differ
  t.is(nearestName('q12', ['q']), undefined);
  t.is(nearestName('form', ['format', 'from', 'to']), 'from'); // two letters swapped
  t.is(nearestName('mroe', ['more', 'rom']), 'more');
  t.is(nearestName('abdc', ['bacd']), undefined); // swapped twice
  t.is(nearestName('abcdxx', ['abcdef']), 'abcdef');
  t.is(nearestName('abcxxx', ['abcdef']), undefined);
  t.is(nearestName('a'.repeat(65), ['a'.repeat(64)]), undefined);
  t.is(nearestName(`${'a'.repeat(63)}b`, ['a'.repeat(64)]), 'a'.repeat(64));
});
