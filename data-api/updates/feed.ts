// Updates as an Atom feed (RFC 4287).
import { xmlHead, xmlText } from '../../kernel/wire/xml.ts';
import type { Update } from './updates.sql.ts';

/** The title of an entry names at most this many ids; its text has all. */
const namedMax = 3;

/** @param updates newest first. @param url the path and query of the feed; `publicUrl` is where clients reach it. */
export function updatesFeed(
  updates: readonly Update[],
  { url, publicUrl }: { url: string; publicUrl: string },
): string {
  const self = xmlText(publicUrl + url);
  const updated = updates[0]?.timestamp ?? '1970-01-01T00:00:00Z';
  const head = `<id>${self}</id><title>Updates of the data</title><updated>${updated}</updated><author><name>Almanac</name></author>`;
  return `${xmlHead}<feed xmlns="http://www.w3.org/2005/Atom">${head}<link rel="self" href="${self}"/>\n${updates.map((update) => entry(update, publicUrl)).join('')}</feed>\n`;
}

function entry({ id, type, timestamp, data }: Update, publicUrl: string): string {
  const series = Array.isArray(data['series']) ? data['series'].map(String) : [];
  const [only] = series;
  const link = series.length === 1 ? `${publicUrl}/v1/series/${only}` : `${publicUrl}/v1/updates`;
  const named = series.slice(0, namedMax).join(', ');
  const others = series.length > namedMax ? ` and ${series.length - namedMax} others` : '';
  const title = `${type}: ${series.length === 0 ? String(data['dataset']) : named + others}`;
  return (
    `<entry><id>${xmlText(`${publicUrl}/v1/updates#${id}`)}</id><title>${xmlText(title)}</title><updated>${timestamp}</updated>` +
    `<category term="${xmlText(type)}"/><link href="${xmlText(link)}"/><content type="text">${xmlText(JSON.stringify(data))}</content></entry>\n`
  );
}
