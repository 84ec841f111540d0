// GET /v1/series/{id}/cite: its URL answers the bytes with the stated SHA-256, also after later loads.
import { createHash } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import { declareBreak } from '../../../ingest/history/series/break.ts';
import { openDatabase } from '../../../kernel/database.ts';
import { freeAccount } from '../../services/data-service.ts';
import { fakeClock, silentLog } from '../../services/harness.ts';
import { startListService } from '../../services/list-service.ts';

const service = await startListService();
test.after.always(() => service.close());

interface Citation {
  url: string;
  sha256: string;
  bytes: number;
  text: string;
  bibtex: string;
  csl: { id: string };
  [fact: string]: unknown;
}

const publish = (lines: readonly string[], vintage: string) =>
  service.load('observations', ['series_id,date,value', ...lines], { vintage });

test.before(async () => {
  await service.load('series', [
    'series_id,name,unit,frequency,source,licence,licence_url,attribution',
    'CPI,Consumer prices,Index,monthly,Office,CC BY 4.0,https://example.org/by,Ask us',
    'EMPTY,Nothing yet,Index,monthly,Office,,,',
    'LATE,Late,Index,monthly,Office,,,',
  ]);
  await publish(['CPI,2024-01,1.0', 'CPI,2024-02,2.0', 'CPI,2024-03,'], '2024-04-10');
  await publish(['CPI,2024-02,2.5', 'CPI,2024-03,3.0', 'CPI,2024-04,4.0'], '2024-05-10');
  await service.load(
    'observations',
    ['series_id,date,value,side', 'FX,2024-01-02,1,buy', 'FX,2024-01-02,2,"se,ll"', 'FX,2024-01-03,3,buy'],
    { create: true, set: { frequency: 'daily', unit: 'USD', source: 'Bank' }, vintage: '2024-01-04' },
  );
});

async function cite(path: string): Promise<Citation> {
  const { status, json, text } = await service.call(path);
  if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
  return (json as { data: Citation }).data;
}

/** The path of a pinned URL, and its answer. */
async function fetchPinned({ url }: Citation) {
  const { origin, pathname, search } = new URL(url);
  const answer = await service.call(pathname + search);
  return { origin, path: pathname + search, ...answer };
}

async function assertDigest(t: ExecutionContext, cited: Citation, about: string): Promise<void> {
  const { status, text, headers, origin } = await fetchPinned(cited);
  t.is(status, 200, `${about}: ${text}`);
  t.is(origin, 'https://almanac.example');
  t.is(createHash('sha256').update(text).digest('hex'), cited.sha256, about);
  t.is(Buffer.byteLength(text), cited.bytes, about);
  t.is(headers.get('cache-control'), 'private, max-age=31536000, immutable', about);
}

const selections = [
  '/v1/series/CPI/cite',
  '/v1/series/CPI/cite?from=2024-02&to=2024-Q1',
  '/v1/series/CPI/cite?vintage=2024-04-30',
  '/v1/series/CPI/cite?transform=pct_change',
  '/v1/series/CPI/cite?transform=index&base=2024-01&include_missing=true&vintage=2024-04-10',
  '/v1/series/CPI/cite?release=first',
  '/v1/series/CPI/cite?release=first&vintage=2024-04-30',
  '/v1/series/CPI/cite?last=2&transform=pct_change',
  '/v1/series/FX/cite?last=1',
  '/v1/series/FX/cite',
  '/v1/series/FX/cite?dims=side:se%5C%2Cll',
  '/v1/series/EMPTY/cite',
];

test.serial(
  'the pinned URL answers the bytes of the digest, for any selection, and goes on to after later loads',
  async (t) => {
    const cited: Citation[] = [];
    for (const path of selections) {
      const one = await cite(path);
      cited.push(one);
      await assertDigest(t, one, path);
    }
    // A correction of the newest vintage, a new vintage, one that deletes everything, another name, a note.
    await publish(['CPI,2024-04,9.9'], '2024-05-10');
    await publish(['CPI,2024-01,7', 'CPI,2024-05,5'], '2024-06-10');
    await publish(['EMPTY,2024-05,5'], '2024-06-10');
    await service.load('observations', ['series_id,date,value', 'CPI,2024-01,0'], {
      vintage: '2024-06-15',
      full: true,
    });
    await service.load('series', ['series_id,name', 'CPI,Other prices']);
    await service.load('footnotes', ['series_id,date,text', 'CPI,2024-01,Estimated']);
    for (const [i, one] of cited.entries()) await assertDigest(t, one, `${selections[i]} after later loads`);
    const now = await cite('/v1/series/CPI/cite');
    t.not(now.sha256, cited[0]?.sha256);
    t.is(now['title'], 'Other prices');
  },
);

test.serial(
  'a state that an older vintage has changed since is 410, at the URL and for its citation',
  async (t) => {
    await publish(['LATE,2024-01,1', 'LATE,2024-02,2'], '2024-05-10');
    const cited = await cite('/v1/series/LATE/cite');
    await publish(['LATE,2024-01,0', 'LATE,2024-03,0'], '2024-04-10');
    const { status, json } = await fetchPinned(cited);
    t.is(status, 410);
    t.like(json, { error: { code: 'gone' } });
    const { searchParams } = new URL(cited.url);
    const again = `/v1/series/LATE/cite?vintage=${searchParams.get('vintage')}&version=${searchParams.get('version')}`;
    t.is((await service.call(again)).status, 410);
    await assertDigest(t, await cite('/v1/series/LATE/cite'), 'the state of now');
  },
);

test.serial(
  'without a vintage the URL has the points of now, also beside a break declared later',
  async (t) => {
    await service.load('observations', ['series_id,date,value', 'BROKEN,2024-01,100', 'BROKEN,2024-02,5'], {
      ...{ create: true, set: { frequency: 'monthly', unit: 'Index', source: 'Office' } },
      vintage: '2024-03-10',
    });
    const database = openDatabase(service.databaseUrl, silentLog, { applicationName: 'test' });
    await declareBreak(database, {
      ...{ noGateway: true, seriesTimeZone: 'UTC', clock: fakeClock('2024-06-30T12:00:00Z') },
      ...{ id: 'BROKEN', from: '2024-02', facts: { unit: 'Points' } },
    });
    await database.close();
    const query = 'transform=pct_change&include_missing=true';
    const cited = await cite(`/v1/series/BROKEN/cite?${query}`);
    t.like(cited, { vintage: '2024-06-30', published_on: '2024-03-10' });
    const present = await service.call(`/v1/series/BROKEN?${query}&format=csv`);
    t.is((await fetchPinned(cited)).text, present.text);
    await assertDigest(t, cited, 'beside a break');
  },
);

test.serial('a citation states the title, publisher, date, URL and terms', async (t) => {
  const {
    url,
    sha256,
    bytes: _bytes,
    text,
    bibtex,
    csl,
    version,
    ...facts
  } = await cite('/v1/series/CPI/cite?from=2024-02');
  t.deepEqual(facts, {
    series: 'CPI',
    title: 'Other prices',
    publisher: 'Office',
    published_on: '2024-06-15',
    vintage: '2024-06-15',
    accessed_on: '2026-06-15',
    licence: 'CC BY 4.0',
    licence_url: 'https://example.org/by',
    attribution: 'Ask us',
  });
  t.is(
    url,
    `https://almanac.example/v1/series/CPI?from=2024-02&vintage=2024-06-15&version=${String(version)}&format=csv`,
  );
  for (const written of [text, bibtex, JSON.stringify(csl)]) {
    t.true(written.includes(url));
    t.true(written.includes(sha256));
  }
  const past = await cite('/v1/series/CPI/cite?vintage=2024-05-31');
  t.like(past, { vintage: '2024-05-31', published_on: '2024-05-10' });
  t.is((await cite('/v1/series/CPI/cite?vintage=2024-01-31'))['published_on'], null, 'before the first');
  const { vintage, version: ofPast } = past as unknown as { vintage: string; version: number };
  t.like(await cite(`/v1/series/CPI/cite?vintage=${vintage}&version=${ofPast}`), { sha256: past.sha256 });
});

test.serial('BibTeX and CSL are files of their own, by format or by Accept', async (t) => {
  const { bibtex, csl } = await cite('/v1/series/CPI/cite');
  for (const [format, type, body, file] of [
    ['bibtex', 'application/x-bibtex', bibtex, 'CPI-citation.bib'],
    ['csl', 'application/vnd.citationstyles.csl+json', JSON.stringify([csl]), 'CPI-citation.json'],
  ] as const) {
    const byFormat = await service.call(`/v1/series/CPI/cite?format=${format}`);
    const byAccept = await service.call('/v1/series/CPI/cite', { headers: { accept: type } });
    for (const { text, headers } of [byFormat, byAccept]) {
      t.is(text, body);
      t.is(headers.get('content-type'), `${type}; charset=utf-8`);
      t.is(headers.get('content-disposition'), `attachment; filename="${file}"`);
    }
  }
  t.is((await service.call('/v1/series/CPI/cite?format=csv')).status, 400);
});

test.serial('a citation is dated by day: it changes at midnight UTC, and with each load', async (t) => {
  const path = '/v1/series/CPI/cite';
  const first = await service.call(path);
  const etag = first.headers.get('etag') ?? '';
  const again = () => service.call(path, { headers: { 'if-none-match': etag } });
  t.is((await again()).status, 304);
  service.clock.set('2026-06-15T23:59:59Z');
  t.is((await again()).status, 304);
  service.clock.set('2026-06-16T00:00:00Z');
  const next = await again();
  t.is(next.status, 200);
  t.like(next.json, { data: { accessed_on: '2026-06-16' } });
  service.clock.set('2026-06-15T12:00:00Z');
  t.is((await again()).status, 304);
  await publish(['CPI,2024-06,6'], '2024-07-10');
  t.is((await again()).status, 200);
});

test.serial(
  'every plan may cite what it may read: a past state takes the feature, as for its points',
  async (t) => {
    const free = (path: string) => service.call(path, { identity: freeAccount });
    t.is((await free('/v1/series/CPI/cite')).status, 200);
    for (const past of ['vintage=2024-05-31', 'release=first']) {
      const { status, json } = await free(`/v1/series/CPI/cite?${past}`);
      t.is(status, 403, past);
      t.like(json, { error: { code: 'plan_required' } });
    }
    const { status } = await service.call('/v1/series/NONE/cite');
    t.is(status, 404);
  },
);
