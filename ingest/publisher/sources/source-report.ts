// A source as JSON, for "almanac sources --json" and the API for operators.
import { instantText } from '../../../kernel/clock.ts';
import { withoutQuery } from '../../read/file-path.ts';
import type { Source } from './sources.sql.ts';

const orNull = (at: Date | null): string | null => (at === null ? null : instantText(at));

/** Omits the entry and the query of the URL, which may contain a token. */
export function sourceReport(source: Source) {
  return {
    name: source.name,
    publication: source.publication,
    url: withoutQuery(source.url),
    sheet: source.sheet === '' ? null : source.sheet,
    schedule: source.schedule,
    registered_at: instantText(source.registeredAt),
    last_fetch_at: orNull(source.fetchedAt),
    last_change_at: orNull(source.changedAt),
    next_fetch_at: instantText(source.fetchAt),
    is_being_fetched: source.leasedUntil !== null,
    failures: source.failures,
    failing_since: orNull(source.failingSince),
    outcome: source.outcome,
  };
}
