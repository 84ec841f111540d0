// Compares the answers to a key pinned to a day with those of an installation where nothing was published later. Hides how answers are compared.
import assert from 'node:assert/strict';
import { proAccount, type Answer, type DataService } from '../services/data-service.ts';
import { endpoints, requestsFor } from '../v1/endpoint-requests.ts';
import type { Sides } from './histories.ts';

/** All requests that the table has for the routes. @throws Error for a route without requests. */
export async function requestsOf(service: DataService, routes: readonly string[]): Promise<string[]> {
  const all: string[] = [];
  for (const route of routes) {
    const asked = endpoints.filter((each) => each.route === route);
    if (asked.length === 0) throw new Error(`test/v1/endpoint-requests.ts has no request for ${route}`);
    for (const each of asked) all.push(...(await requestsFor(service, each)));
  }
  return all;
}

/** @throws AssertionError if the answers differ, on any of the first four pages. */
export async function agreeOn({ whole, cut, day, today }: Sides, request: string): Promise<void> {
  const isCitation = request.includes('/cite');
  let [asked, expectedOf] = [request, request];
  for (let page = 1; page <= 4; page += 1) {
    const found = await whole.call(asked, { identity: { ...proAccount, asOf: day } });
    assert.equal(found.headers.get('x-as-of'), day, request);
    assert.doesNotMatch(found.headers.get('cache-control') ?? '', /public/, request);
    if (isAfter(request, day)) {
      // Anything that did not exist then is not found, with any other parameters.
      if (found.status === 404) return assert.equal((await cut.call(expectedOf)).status, 404, request);
      assert.equal(found.status, 400, request);
      assert.match(
        found.text,
        new RegExp(`must not be after ${day}, the day that the API key is pinned to`),
        request,
      );
      return;
    }
    const expected = await cut.call(expectedOf);
    const seen = await shown(found);
    if (isCitation && found.status === 200) seen.text = accessedThen(seen.text, today, day);
    assert.deepEqual(seen, await shown(expected), `${request}, page ${page}, as of ${day}`);
    const [next, expectedNext] = [cursorOf(found), cursorOf(expected)];
    if (next === null || expectedNext === null) return;
    [asked, expectedOf] = [withCursor(request, next), withCursor(request, expectedNext)];
  }
}

/** A citation has the present day as the one on which it was accessed, and no other day after the pin but in the parameters of its URL. */
const accessedThen = (text: string, today: string, day: string): string =>
  text.replaceAll(new RegExp(`(?<!=)${today}`, 'g'), day).replaceAll(partsOf(today), partsOf(day));
const partsOf = (date: string): string => date.split('-').map(Number).join(',');

/** The parts of an answer that are compared: cursors are encrypted anew each time. */
export async function shown({ status, headers, text }: Answer) {
  const of = (name: string) => headers.get(name)?.replaceAll(/cursor=[^&>]*/g, 'cursor=') ?? null;
  return {
    status,
    ...{ type: of('content-type'), location: of('content-location'), link: of('link') },
    ...{ changed: of('last-modified'), file: of('content-disposition') },
    text: text
      .replaceAll(/"next_cursor":"[^"]*"/g, '"next_cursor":"…"')
      .replaceAll(/evt_[a-z2-7]{20}/g, 'evt'),
  };
}

function cursorOf({ json, headers }: Answer): string | null {
  const named = (json as { pagination?: { next_cursor?: string | null } } | undefined)?.pagination
    ?.next_cursor;
  return named ?? /cursor=([^&>]*)/.exec(headers.get('link') ?? '')?.[1] ?? null;
}

function withCursor(request: string, cursor: string): string {
  const url = new URL(request, 'http://host');
  url.searchParams.set('cursor', decodeURIComponent(cursor));
  return url.pathname + url.search;
}

/** Whether the request names a state after the day. */
function isAfter(request: string, day: string): boolean {
  const { searchParams } = new URL(request, 'http://host');
  // These bound the dates of releases, and a calendar has later dates too.
  if (/^\/fred\/releases?\/dates\?/.test(request)) return false;
  return ['vintage', 'vintage_dates', 'vintage_date', 'realtime_start', 'realtime_end']
    .flatMap((name) => searchParams.get(name)?.split(',') ?? [])
    .some((named) => named > day && named !== '9999-12-31');
}
