// The vintages of FRED-MD up to a day in one installation, and all of them in another: a key that is pinned to the day is answered alike by both.
// All series and all vintages; triangles, citations and FRED's form of those that were revised most, replaced or not there yet.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fetch } from 'undici';
import { createInstallation, unhurriedPlansFile, type Installation } from '../services/instance.ts';
import { loadFredMd } from '../real-data/fred-md.ts';
import type { Check } from '../real-data/run.ts';

/** On the day of a vintage, between two, and on the day on which a series begins. */
const days = ['2019-12-31', '2020-04-15', '2020-04-30', '2020-10-31'];
const some = [
  ...['PAYEMS', 'INDPRO', 'UNRATE', 'RPI', 'CPIAUCSL', 'M2SL', 'HOUST'],
  ...['AMBSL', 'BOGMBASE', 'TWEXMMTH', 'TWEXAFEGSMTHx', 'NONE'],
];
const idsAtOnce = 32;
const seriesPerPage = 100;

interface Side {
  installation: Installation;
  key: string;
}

interface Seen {
  status: number;
  headers: readonly (string | null)[];
  /** Text, or the bytes of a file. */
  body: string | Buffer;
}

export async function checkPinnedVintages({ folder, seen }: Check): Promise<void> {
  const files = readdirSync(path.join(folder, '02_vintages_fred_md'))
    .filter((name) => name.endsWith('.csv.gz'))
    .toSorted();
  assert.equal(files.length, 18);
  const plans = { PLANS_FILE: unhurriedPlansFile() };
  const installations = [await createInstallation(plans), await createInstallation(plans)] as const;
  try {
    const [whole, cut] = [await startSide(installations[0]), await startSide(installations[1])];
    const load = (side: Side, name: string) =>
      loadFredMd({ almanac: side.installation.almanac, get: () => notAsked() }, folder, name);
    for (const name of files) await load(whole, name);
    const left = [...files];
    for (const day of days) {
      for (let name = left[0]; name !== undefined && isUpTo(name, day); name = left[0]) {
        await load(cut, name);
        left.shift();
      }
      const compared = withPinned(day, whole, (pinned) =>
        withPinned(day, cut, (pinnedCut) => compareOn(day, pinned, pinnedCut, cut)),
      );
      seen(await compared);
    }
  } finally {
    for (const installation of installations) await installation.remove();
  }
}

const notAsked = (): never => {
  throw new Error('loads make no calls');
};

/** Whether the vintage of the file, the end of its month, is not after the day. */
const isUpTo = (name: string, day: string): boolean =>
  name.slice(0, 7) < day.slice(0, 7) || (name.slice(0, 7) === day.slice(0, 7) && isLastDay(day));
const isLastDay = (day: string): boolean => {
  const date = Temporal.PlainDate.from(day);
  return date.day === date.daysInMonth;
};

async function startSide(installation: Installation): Promise<Side> {
  const { apiKey } = await installation.start();
  assert.ok(apiKey, 'the first start prints a key');
  return { installation, key: apiKey };
}

/** Works with a key of the account that is pinned to the day. */
async function withPinned<T>(day: string, side: Side, work: (pinned: Side) => Promise<T>): Promise<T> {
  const created = await manageKeys(side, 'POST', '', { name: `pinned to ${day}`, as_of: day });
  const { data } = JSON.parse(created) as { data: { id: string; key: string } };
  try {
    return await work({ ...side, key: data.key });
  } finally {
    await manageKeys(side, 'DELETE', `/${data.id}`);
  }
}

/** @returns the body. */
async function manageKeys(
  { installation, key }: Side,
  method: string,
  path: string,
  body?: object,
): Promise<string> {
  const response = await fetch(`${installation.url}/v1/keys${path}`, {
    method,
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await response.text();
  assert.ok(response.ok, text);
  return text;
}

/** @param pinned with all vintages. @param cut without those of after the day. */
async function compareOn(day: string, pinned: Side, pinnedCut: Side, cut: Side): Promise<string> {
  const ids = await idsOf(pinnedCut);
  let bytes = 0;
  const counts = new Map<number, number>();
  for (const target of [...clocked(ids), ...unclocked(ids)]) {
    const found = withoutCursor(await ask(pinned, target));
    assert.deepEqual(found, withoutCursor(await ask(pinnedCut, target)), `${target} as of ${day}`);
    bytes += found.body.length;
    counts.set(found.status, (counts.get(found.status) ?? 0) + 1);
  }
  for (const target of unclocked(ids))
    assert.deepEqual(
      withoutCursor(await ask(pinned, target)).body,
      withoutCursor(await ask(cut, target)).body,
      `${target} as of ${day}, without a pin`,
    );
  const statuses = [...counts].map(([status, count]) => `${count} of ${status}`).join(', ');
  return `as of ${day}, ${ids.length} series: ${bytes} bytes of answers (${statuses}) are those of an installation without later vintages`;
}

/** All series of the catalogue. */
async function idsOf(side: Side): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor = ''; ;) {
    const { body } = await ask(side, `/v1/catalog?limit=${seriesPerPage}&fields=id${cursor}`);
    const { data, pagination } = JSON.parse(body.toString()) as {
      data: { id: string }[];
      pagination: { next_cursor: string | null };
    };
    ids.push(...data.map(({ id }) => id));
    if (pagination.next_cursor === null) return ids;
    cursor = `&cursor=${encodeURIComponent(pagination.next_cursor)}`;
  }
}

/** Requests whose answers depend on no clock: a key without a pin has them too. */
function unclocked(ids: readonly string[]): string[] {
  const groups = Array.from({ length: Math.ceil(ids.length / idsAtOnce) }, (_, i) =>
    ids
      .slice(i * idsAtOnce, (i + 1) * idsAtOnce)
      .map(encodeURIComponent)
      .join(','),
  );
  return [
    ...groups.map((group) => `/v1/series?ids=${group}&limit=1000&format=csv`),
    ...groups.map((group) => `/v1/series?ids=${group}&last=1&include_missing=true&format=csv`),
    ...some.flatMap((id) => [
      `/v1/series/${id}/vintages?limit=1000`,
      `/v1/series/${id}/triangle?format=csv`,
      `/v1/series/${id}?release=first&format=csv`,
      `/v1/series/${id}?transform=yoy&frequency=quarterly&aggregate=avg`,
    ]),
  ];
}

function clocked(ids: readonly string[]): string[] {
  const fred = 'file_type=json';
  const always = 'realtime_start=1776-07-04&realtime_end=9999-12-31';
  return [
    ...ids.flatMap((id) => [
      `/v1/series/${encodeURIComponent(id)}/latest`,
      `/v1/catalog/${encodeURIComponent(id)}`,
    ]),
    ...some.flatMap((id) => [
      `/v1/series/${id}`,
      `/v1/series/${id}?format=xlsx&limit=1000`,
      `/v1/series/${id}?format=ndjson&limit=1000`,
      `/v1/series/${id}?vintage=2019-09-30&limit=1000`,
      `/v1/series/${id}?vintage=2020-12-31`,
      `/v1/series/${id}/triangle?layout=wide`,
      `/v1/series/${id}/cite`,
      `/fred/series?series_id=${id}&${fred}`,
      `/fred/series/vintagedates?series_id=${id}&${fred}`,
      `/fred/series/observations?series_id=${id}&${fred}`,
      ...[1, 2, 3, 4].map(
        (type) => `/fred/series/observations?series_id=${id}&${fred}&${always}&output_type=${type}`,
      ),
      `/v1/search?q=${id}`,
    ]),
    ...[
      '/v1/catalog?facets=true&limit=100',
      '/v1/catalog?q=PAYEMS',
      '/v1/catalog?format=csv&limit=100&sort=-last_updated',
    ],
    ...[
      '/v1/search?q=fred',
      '/v1/search?q=as%20published&type=series&limit=50',
      '/v1/sources',
      '/v1/releases',
    ],
    ...[`/fred/series/search?search_text=BOGMBASE&${fred}`, `/fred/sources?${fred}`, `/fred/tags?${fred}`],
    ...['/v1/status', '/v1/no-such-endpoint', '/v1/catalog?limit=0'],
  ];
}

const triesMax = 100;

/** As a well-behaved client. Without the address, the id of the request, and instants: those are of the loads. */
async function ask({ installation, key }: Side, target: string): Promise<Seen> {
  for (let tries = 0; ; tries += 1) {
    const response = await fetch(installation.url + target, { headers: { 'x-api-key': key } });
    const bytes = Buffer.from(await response.arrayBuffer());
    if (response.status === 429 && tries < triesMax) {
      await setTimeout(Number(response.headers.get('retry-after')) * 1000);
      continue;
    }
    const headers = ['content-type', 'x-as-of', 'content-disposition', 'allow'].map((name) =>
      response.headers.get(name),
    );
    const isText = /json|csv|xml|text/.test(headers[0] ?? '');
    const body = isText ? shown(bytes.toString(), installation.url) : bytes;
    return { status: response.status, headers, body };
  }
}

/** Cursors are encrypted anew each time. */
function withoutCursor(seen: Seen): Seen {
  const { body } = seen;
  return typeof body === 'string' ? { ...seen, body: body.replaceAll(/"next_cursor":"[^"]*"/g, '') } : seen;
}

const shown = (text: string, url: string): string =>
  text
    .replaceAll(url, '')
    .replaceAll(/"request_id":"[^"]*"/g, '')
    .replaceAll(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00)/g, '');
