// Builds the result of a tool from the answers of its reads: as structured content and as text, with citations, at most 25 kB.
import type { CallToolResult } from '@modelcontextprotocol/server';
import { digits } from '../../kernel/digits.ts';
import type { InnerAnswer } from './inner-call.ts';
import type { Tool } from './tools.ts';

type Json = Record<string, unknown>;

/** The call of a tool, and the answers of its reads, one for each part. */
export interface Asked {
  tool: Tool;
  /** The date that the answer is as of. */
  asOf: string | undefined;
  targets: readonly string[];
  answers: readonly InnerAnswer[];
  publicUrl: string;
}

export const answerBytesMax = 25_000;

/** The JSON Schema of the results of `resultOf`. @param route the schemas of the reads' answers. */
export function outputSchemaOf(
  { parts }: Tool,
  { schema: route, $defs }: { schema: Json; $defs: Json },
): Json {
  const text = { type: ['string', 'null'] };
  const source = {
    ...{ series: { type: 'string' }, unit: text, licence: text, version: { type: ['integer', 'null'] } },
    citation: { ...text, description: 'A permanent URL: it answers the same CSV for ever, or 410.' },
  };
  const properties = {
    as_of: { ...text, description: 'The day as of which the answer holds; null: now.' },
    ...Object.fromEntries(parts.map((part) => [part, route])),
    sources: { type: 'array', items: { type: 'object', properties: source, required: Object.keys(source) } },
    urls: {
      type: 'array',
      items: { type: 'string' },
      description: 'The URLs of the API calls that produced this result.',
    },
    shortened: { type: 'boolean', description: 'Rows were left out: a linked resource has all.' },
  };
  return { type: 'object', properties, required: Object.keys(properties), $defs };
}

/** @returns the result; with `isError` if a read failed, or the answer cannot be shortened enough. */
export function resultOf(asked: Asked): CallToolResult {
  const { tool, targets, answers, publicUrl, asOf } = asked;
  const bodies = answers.map(({ body }) => JSON.parse(body, asPublished) as Json);
  const failed = answers.findIndex(({ status }) => status !== 200);
  if (failed >= 0) {
    const error = (bodies[failed]?.['error'] ?? {}) as Json;
    return errorOf(error['param'] === 'vintage' ? byName(error, tool.days[failed] ?? '') : error);
  }
  const cited = bodies.flatMap((body, i) =>
    seriesIn(body).map(({ series, meta }) => sourceOf(series, meta, targets[i] ?? '', publicUrl)),
  );
  const content = {
    as_of: asOf ?? null,
    ...Object.fromEntries(tool.parts.map((part, i) => [part, bodies[i]])),
    sources: cited,
    urls: targets.map((target) => publicUrl + target),
    shortened: false,
  };
  if (!shorten(content, bodies, tool.keeps))
    return errorOf({
      code: 'payload_too_large',
      message: 'The answer is longer than 25 kB even without its rows. Ask for fewer series.',
    });
  const text = { type: 'text' as const, text: JSON.stringify(content) };
  const links = content.shortened ? linksOf(cited, content.urls) : [];
  return { content: [text, ...links], structuredContent: content };
}

/** Keeps the digits of a number that would be written in another way, such as 1.50. */
const asPublished = (_name: string, value: unknown, { source = '' }: { source?: string } = {}): unknown =>
  typeof value === 'number' && String(value) !== source ? digits(source) : value;

/** Renames the route's parameter `vintage` in an error to the tool's parameter. */
function byName(error: Json, param: string): Json {
  return { ...error, param, message: String(error['message']).replace('"vintage"', `"${param}"`) };
}

/** A failure as the result of a tool. @param error with `code` and `message`, as in the error envelope. */
export function errorOf(error: Json): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: JSON.stringify({ error }) }] };
}

/** The series of an answer with their metadata: one series, a list of series, or a catalogue entry. Empty for other lists. */
function seriesIn(body: Json): { series: string; meta: Json }[] {
  const { data, meta } = body;
  if (meta !== undefined && 'series' in body) return [{ series: String(body['series']), meta: meta as Json }];
  if (Array.isArray(data))
    return data.flatMap((row: Json) => (typeof row['meta'] === 'object' ? seriesIn(row) : []));
  const entry = data as Json | undefined;
  return typeof entry?.['id'] === 'string' ? [{ series: entry['id'], meta: entry }] : [];
}

type Source = ReturnType<typeof sourceOf>;

function sourceOf(series: string, meta: Json, target: string, publicUrl: string) {
  const { unit, licence, version } = meta as {
    unit: string | null;
    licence: string | null;
    version?: number;
  };
  return {
    series,
    unit,
    licence,
    version: version ?? null,
    citation: citationOf(series, meta, target, publicUrl),
  };
}

const ofSelection = ['from', 'to', 'dims', 'frequency', 'aggregate', 'transform', 'last'];

/** The URL of the same selection, pinned to the state that was read as GET /v1/series/{id}/cite does; null if nothing was published yet. */
function citationOf(series: string, meta: Json, target: string, publicUrl: string): string | null {
  const asked = new URL(target, 'http://host');
  const isRevisions = asked.pathname.endsWith('/triangle');
  const given = asked.searchParams;
  const vintage = given.get('vintage') ?? given.get('vintages_to') ?? meta['last_updated'];
  if (typeof vintage !== 'string') return null;
  const query = new URLSearchParams();
  for (const name of ofSelection) {
    const value = given.get(name);
    if (value !== null && !(isRevisions && name === 'last')) query.append(name, value); // in a triangle, `last` counts vintages
  }
  query.append('vintage', vintage);
  if (typeof meta['version'] === 'number') query.append('version', String(meta['version']));
  query.append('format', 'csv');
  return `${publicUrl}/v1/series/${encodeURIComponent(series)}?${query.toString()}`;
}

/** Halves the longest list of rows until the content is short enough. @returns whether it is. */
function shorten(content: { shortened: boolean }, bodies: readonly Json[], keeps: Tool['keeps']): boolean {
  while (Buffer.byteLength(JSON.stringify(content)) > answerBytesMax) {
    const containers = bodies.flatMap(rowContainers);
    const longest = containers.reduce((a, b) => (b.data.length > a.data.length ? b : a), {
      data: [] as unknown[],
    });
    if (longest.data.length === 0) return false;
    const left = Math.floor(longest.data.length / 2);
    longest.data =
      keeps === 'first' ? longest.data.slice(0, left) : longest.data.slice(longest.data.length - left);
    content.shortened = true;
  }
  return true;
}

/** The objects with rows: each series of a list, or the answer itself. */
function rowContainers(body: Json): { data: unknown[] }[] {
  const { data } = body;
  if (!Array.isArray(data)) return [];
  const series = data.filter((row: Json) => Array.isArray(row['data']));
  return series.length > 0 ? (series as { data: unknown[] }[]) : [body as { data: unknown[] }];
}

function linksOf(cited: readonly Source[], urls: readonly string[]) {
  const whole = cited.flatMap(({ series, citation }) =>
    citation === null ? [] : [{ uri: citation, name: `${series}.csv` }],
  );
  const links = whole.length > 0 ? whole : urls.map((uri) => ({ uri, name: 'answer.json' }));
  return links.map((link) => ({
    ...{ type: 'resource_link' as const, ...link },
    mimeType: link.name.endsWith('.csv') ? 'text/csv' : 'application/json',
  }));
}
