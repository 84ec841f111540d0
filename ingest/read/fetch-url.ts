// Fetches a file by its URL into a temporary one: limited in size and time, plain or conditional. The only place in publish that uses the
// network. With a guard, the address of each redirect is checked as the first was.
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import path from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Client, fetch as fetchUrl, type RequestInit, type Response } from 'undici';
import { UrlRefused, type AddressGuard } from '../../kernel/outbound/address-guard.ts';
import { connectTo } from '../../kernel/outbound/connect-to.ts';
import { splitEndings } from './file-kind.ts';
import { makeTemporaryFolder, removeLeftFolders } from './temporary-folder.ts';
import { IngestFailure } from '../failure.ts';
import { withoutQuery } from './file-path.ts';

export interface FetchOptions {
  bytesMax?: number;
  withinMs?: number;
  /** Checks the addresses of connections, including those of redirects. Not needed for URLs that a user types on their own network. */
  guard?: AddressGuard;
  /** Aborts the fetch. */
  signal?: AbortSignal;
  /** The validators of the last answer: the server may answer that nothing has changed. */
  etag?: string;
  lastModified?: string;
}

export interface FetchedFile {
  /** The temporary file. */
  file: string;
  sha256: string;
  bytes: number;
  etag: string | null;
  lastModified: string | null;
  /** Deletes the file. */
  remove(): Promise<void>;
}

/** The maximum size of a fetched file, or of one from the watched folder. */
export const bytesMaxUsual = 1024 * 1024 * 1024;
const withinMsUsual = 10 * 60_000;
const redirectsMax = 5;
const endings: readonly (readonly [type: RegExp, ending: string])[] = [
  [/spreadsheetml/i, '.xlsx'],
  [/ms-excel/i, '.xls'],
];

/**
 * @returns null if the server answers that the file has not changed (304).
 * @throws IngestFailure if the URL cannot be fetched, or its file is too large or too slow; no temporary file remains then.
 */
export async function fetchFile(url: string, options: FetchOptions = {}): Promise<FetchedFile | null> {
  const { bytesMax = bytesMaxUsual, withinMs = withinMsUsual, guard, etag, lastModified } = options;
  const address = checkedUrl(url);
  const late = AbortSignal.timeout(withinMs);
  const signal = options.signal === undefined ? late : AbortSignal.any([late, options.signal]);
  await removeLeftFolders();
  const folder = await makeTemporaryFolder();
  const remove = () => folder.remove();
  const hops: Client[] = [];
  let isAnswered = false;
  try {
    const response = await followed(address, guard, hops, {
      signal,
      headers: {
        accept: 'text/csv, application/vnd.ms-excel, */*;q=0.5',
        'user-agent': 'almanac publish',
        ...(etag !== undefined && { 'if-none-match': etag }),
        ...(lastModified !== undefined && { 'if-modified-since': lastModified }),
      },
    });
    if (response.status === 304) {
      await remove();
      return null;
    }
    // 206 is a part of the file that nobody requested: a load of it could delete the other points.
    if (!response.ok || response.status === 206 || response.body === null)
      throw cannot(url, `the server answered ${response.status}`);
    isAnswered = true;
    const file = path.join(folder.path, nameFor(address, response.headers.get('content-type') ?? ''));
    const hash = createHash('sha256');
    let bytes = 0;
    const limited = new Transform({
      transform(chunk: Buffer, _, done) {
        bytes += chunk.length;
        hash.update(chunk);
        if (bytes > bytesMax) done(cannot(url, `it is larger than ${Math.round(bytesMax / 1024 / 1024)} MB`));
        else done(null, chunk);
      },
    });
    await pipeline(Readable.fromWeb(response.body), limited, createWriteStream(file), { signal });
    const { headers } = response;
    return {
      file,
      sha256: hash.digest('hex'),
      bytes,
      etag: headers.get('etag'),
      lastModified: headers.get('last-modified'),
      remove,
    };
  } catch (error) {
    await remove();
    if (options.signal?.aborted === true) throw error;
    if (error instanceof IngestFailure) throw error;
    if (error instanceof UrlRefused)
      throw cannot(url, `its URL, or one that it redirects to, ${error.message}`);
    if (late.aborted) throw cannot(url, `it took longer than ${Math.round(withinMs / 1000)} s`);
    const fault = isAnswered ? 'the file did not arrive whole' : 'the server cannot be reached';
    const code = codeOf(error);
    throw cannot(url, code === undefined ? fault : `${fault} (${code})`, error);
  } finally {
    for (const client of hops) client.destroy(null, () => undefined);
  }
}

/** The answer after redirects. @param hops receives the connections, which the caller closes. @throws UrlRefused by the guard. */
async function followed(
  first: URL,
  guard: AddressGuard | undefined,
  hops: Client[],
  init: RequestInit,
): Promise<Response> {
  let address = first;
  for (let redirects = 0; redirects <= redirectsMax; redirects++) {
    const client = guard && (await checkedClient(address, guard));
    if (client !== undefined) hops.push(client);
    const response = await fetchUrl(address, {
      ...init,
      redirect: 'manual',
      ...(client !== undefined && { dispatcher: client }),
    });
    const location = response.headers.get('location');
    if (response.status < 300 || response.status === 304 || response.status > 399 || location === null)
      return response;
    await response.body?.cancel();
    address = checkedUrl(URL.parse(location, address)?.href ?? location);
    address.hash = ''; // never sent, and the guard rejects it
  }
  throw cannot(first.href, `it redirects more than ${redirectsMax} times`);
}

/** A connection only to addresses that the guard has admitted. */
async function checkedClient(address: URL, guard: AddressGuard): Promise<Client> {
  const url = guard.parse(address.href);
  const addresses = await guard.addressesOf(url);
  return new Client(url.origin, {
    connect: (options, done) => void connectTo(options, () => addresses, done),
  });
}

/** The code of an error or of its cause, such as ECONNREFUSED. */
function codeOf(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code } = at as NodeJS.ErrnoException;
    if (typeof code === 'string') return code;
  }
  return undefined;
}

function checkedUrl(url: string): URL {
  const address = URL.canParse(url) ? new URL(url) : null;
  if (address === null || !/^https?:$/.test(address.protocol))
    throw new IngestFailure(
      'usage',
      `${withoutQuery(url)} is not a URL that begins with http:// or https://.`,
    );
  // almanac.yml and the database keep the URL.
  if (address.username !== '' || address.password !== '')
    throw new IngestFailure(
      'usage',
      'The URL has a user name or a password; almanac.yml would keep it. Fetch the file by other means.',
    );
  return address;
}

function cannot(url: string, reason: string, cause?: unknown): IngestFailure {
  return new IngestFailure('invalid_file', `${withoutQuery(url)} cannot be fetched: ${reason}.`, { cause });
}

/** A name whose ending distinguishes a workbook from CSV. */
function nameFor(url: URL, type: string): string {
  const name =
    path
      .basename(url.pathname)
      .replaceAll(/[^A-Za-z0-9._-]+/g, '_')
      .slice(-100) || 'file';
  if (splitEndings(name).endings !== '') return name;
  return `${name}${endings.find(([kind]) => kind.test(type))?.[1] ?? '.csv'}`;
}
