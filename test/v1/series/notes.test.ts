// Footnotes: on the series in `meta`, on its points with `include=notes`.
import test from 'ava';
import { freeAccount } from '../../services/data-service.ts';
import { startListService } from '../../services/list-service.ts';

const service = await startListService();
test.after.always(() => service.close());

test.before(async () => {
  const facts = ['series_id,name,unit,frequency,source,licence,licence_url,methodology_url'];
  facts.push(
    'CPI,Prices,Index,monthly,Office,CC BY 4.0,https://example.org/licence,https://example.org/methods',
  );
  await service.load('series', facts);
  await service.load(
    'observations',
    ['series_id,date,value', 'CPI,2024-01,1', 'CPI,2024-02,2', 'CPI,2024-03,3'],
    {
      vintage: '2024-04-10',
    },
  );
  await service.load(
    'observations',
    ['series_id,date,value,side', 'FX,2024-01-02,1,buy', 'FX,2024-01-02,2,sell', 'FX,2024-01-03,3,buy'],
    { create: true, set: { frequency: 'daily', unit: 'USD', source: 'Bank' }, vintage: '2024-01-04' },
  );
  await service.load('footnotes', [
    'series_id,date,dims,mark,text',
    'CPI,,,1,A new basket',
    'CPI,2024-02,,2,Estimated',
    'CPI,2024-02,,3,=cmd',
    'FX,2024-01-02,side:sell,,"Half a day, no more"',
    'FX,2024-01-03,,*,Holiday',
    'FX,,side:buy,,Banks buy',
  ]);
});

interface WithNotes {
  meta: { footnotes: unknown[] };
  data: { date: string; notes?: { mark: string | null; text: string; dims: object }[] }[];
}
const read = async (path: string) => (await service.call(path)).json as WithNotes;
const notesOf = ({ data }: WithNotes) => data.map(({ notes }) => notes?.map(({ text }) => text));

test('a series reports its licence, its methods and its footnotes, in the catalogue as well', async (t) => {
  const facts = {
    licence: 'CC BY 4.0',
    licence_url: 'https://example.org/licence',
    methodology_url: 'https://example.org/methods',
    footnotes: [{ mark: '1', text: 'A new basket', dims: {} }],
  };
  t.like((await read('/v1/series/CPI')).meta, facts);
  t.like((await service.call('/v1/catalog/CPI')).json, { data: facts });
  t.deepEqual((await read('/v1/series/FX')).meta.footnotes, [
    { mark: null, text: 'Banks buy', dims: { side: 'buy' } },
  ]);
});

test('on request, notes are next to the points of their date and dimension values', async (t) => {
  t.deepEqual(notesOf(await read('/v1/series/CPI')), [undefined, undefined, undefined]);
  const noted = await read('/v1/series/CPI?include=notes');
  t.deepEqual(noted.data[1], {
    ...{ date: '2024-02-29', value: 2, dims: {} },
    notes: [
      { mark: '2', text: 'Estimated', dims: {} },
      { mark: '3', text: '=cmd', dims: {} },
    ],
  } as never);
  t.deepEqual(notesOf(noted), [[], ['Estimated', '=cmd'], []]);
  t.deepEqual(notesOf(await read('/v1/series/FX?include=notes')), [[], ['Half a day, no more'], ['Holiday']]);
  t.deepEqual(notesOf(await read('/v1/series/FX/latest?include=notes')), [
    ['Half a day, no more'],
    ['Holiday'],
  ]);
  t.deepEqual(notesOf(await read('/v1/series/CPI?include=notes&limit=1&from=2024-02')), [
    ['Estimated', '=cmd'],
  ]);
  const many = (await service.call('/v1/series?ids=FX,CPI&include=notes')).json as { data: WithNotes[] };
  t.deepEqual(many.data.map(notesOf), [
    [[], ['Half a day, no more'], ['Holiday']],
    [[], ['Estimated', '=cmd'], []],
  ]);
});

test('in CSV the notes of a point are one cell, which no spreadsheet executes', async (t) => {
  const { text } = await service.call('/v1/series/CPI?include=notes&format=csv');
  t.is(text, 'date,value,note\r\n2024-01-31,1,\r\n2024-02-29,2,2: Estimated; 3: =cmd\r\n2024-03-31,3,\r\n');
  const sides = await service.call('/v1/series/FX?include=notes&format=csv&fields=date');
  t.is(
    sides.text,
    'date,note\r\n2024-01-02,\r\n2024-01-02,"Half a day, no more"\r\n2024-01-03,*: Holiday\r\n',
  );
});

test('notes are those of today beside any vintage, so no URL with them is permanent', async (t) => {
  const past = await service.call('/v1/series/CPI?include=notes&vintage=2024-04-10');
  t.deepEqual(notesOf(past.json as WithNotes), [[], ['Estimated', '=cmd'], []]);
  t.is(past.headers.get('content-location'), null);
  const { version } = (await read('/v1/series/CPI')).meta as unknown as { version: number };
  const pinned = await service.call(`/v1/series/CPI?include=notes&vintage=2024-04-10&version=${version}`);
  t.is(pinned.headers.get('cache-control'), 'private, no-cache');
});

test('the next call after a load shows other notes, with another ETag; the version of the points stays', async (t) => {
  await service.load('series', ['series_id,name,unit,frequency,source', 'N,N,Index,monthly,Office']);
  await service.load('observations', ['series_id,date,value', 'N,2024-01,1'], { vintage: '2024-04-10' });
  const path = '/v1/series/N?include=notes';
  const before = await service.call(path);
  await service.load('footnotes', ['series_id,date,text', 'N,2024-01,Provisional']);
  const etag = before.headers.get('etag') ?? '';
  const after = await service.call(path, { headers: { 'if-none-match': etag } });
  t.is(after.status, 200);
  t.deepEqual(notesOf(after.json as WithNotes), [['Provisional']]);
  const versionOf = ({ json }: { json: unknown }) => (json as { meta: { version: number } }).meta.version;
  t.is(versionOf(after), versionOf(before));
  const again = await service.call(path, { headers: { 'if-none-match': after.headers.get('etag') ?? '' } });
  t.is(again.status, 304);
  await service.load('footnotes', ['series_id,text', 'N,']);
  t.deepEqual(notesOf(await read(path)), [[]]);
});

test('every plan may read notes; anything else to include is refused', async (t) => {
  t.is((await service.call('/v1/series/CPI?include=notes', { identity: freeAccount })).status, 200);
  const { status, json } = await service.call('/v1/series/CPI?include=status');
  t.is(status, 400);
  t.like(json, { error: { param: 'include', code: 'invalid_parameter' } });
});
