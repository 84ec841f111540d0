// Registers the URLs with a schedule of an almanac.yml, updates edited ones, and ends removed ones: afterwards the sources of a publication
// are those of its file. The publisher has no access to the folder, so each entry is stored.
import { isDeepStrictEqual } from 'node:util';
import type { Database, Queryable } from '../../../kernel/database.ts';
import { UrlRefused, type AddressGuard } from '../../../kernel/outbound/address-guard.ts';
import { splitEndings } from '../../read/file-kind.ts';
import { lackingIn, type Description } from '../../entry/entry-schema.ts';
import { withoutQuery } from '../../read/file-path.ts';
import { nextInstant } from '../../entry/schedule.ts';
import {
  deleteSource,
  insertSource,
  lockRegistration,
  selectSources,
  findSourceNames,
  updateSource,
  type NewSource,
} from './sources.sql.ts';

export interface RegisterOptions {
  seriesTimeZone: string;
  now: Date;
  /** Decides which URLs the publisher will fetch. */
  guard: AddressGuard;
  /** almanac.yml did not exist before: no source is ended, as the folder may only share its name with another one. */
  isNew: boolean;
  /** A dry run: reports the changes and makes none. */
  dryRun: boolean;
}

/** The present state of a source. */
export interface Registered {
  name: string;
  schedule: string;
  fetchAt: Date;
}

export interface Registration {
  added: Registered[];
  changed: Registered[];
  /** Names. */
  ended: string[];
  /** The sources that cannot be registered, and why. */
  refused: { path: string; reason: string }[];
}

type Wanted = Pick<NewSource, 'publication' | 'url' | 'sheet' | 'entry' | 'schedule'>;

/** Runs in one transaction. Entries that are skipped, unconfirmed or incomplete are not registered. */
export function registerSources(
  database: Database,
  description: Description,
  options: RegisterOptions,
): Promise<Registration> {
  const { wanted, refused } = wantedBy(description, options.guard);
  return database.transaction(async (on) => {
    if (!options.dryRun) await lockRegistration(on);
    const plan = await planRegistration(on, description.name, wanted, options);
    if (!options.dryRun) {
      for (const name of plan.ended) await deleteSource(on, name);
      for (const source of plan.changed) await updateSource(on, source);
      for (const source of plan.added) await insertSource(on, { ...source, at: options.now });
    }
    const shown = ({ name, schedule, fetchAt }: Registered) => ({ name, schedule, fetchAt });
    return { ...plan, added: plan.added.map(shown), changed: plan.changed.map(shown), refused };
  });
}

function wantedBy({ name: publication, tables }: Description, guard: AddressGuard) {
  const wanted = new Map<string, Wanted>();
  const refused: Registration['refused'] = [];
  for (const entry of tables) {
    const { schedule, sheet = '', skip, guessed = [] } = entry;
    if (schedule === undefined || skip !== undefined) continue;
    if (guessed.length > 0 || lackingIn(entry).length > 0) continue;
    for (const url of [entry.file].flat()) {
      const reason = wanted.has(`${url}\n${sheet}`)
        ? 'another entry has this URL and sheet'
        : refusal(url, guard);
      if (reason === null) wanted.set(`${url}\n${sheet}`, { publication, url, sheet, entry, schedule });
      else refused.push({ path: withoutQuery(url), reason: `It cannot be fetched by schedule: ${reason}.` });
    }
  }
  return { wanted: [...wanted.values()], refused };
}

function refusal(url: string, guard: AddressGuard): string | null {
  try {
    guard.parse(url);
    return null;
  } catch (error) {
    if (error instanceof UrlRefused) return `its URL ${error.message}`;
    throw error;
  }
}

async function planRegistration(
  on: Queryable,
  publication: string,
  wanted: readonly Wanted[],
  { seriesTimeZone, now, isNew }: RegisterOptions,
) {
  const present = new Map(
    (await selectSources(on, { publication })).map((source) => [`${source.url}\n${source.sheet}`, source]),
  );
  const usedNames = await findSourceNames(on);
  const added: Omit<NewSource, 'at'>[] = [];
  const changed: Pick<NewSource, 'name' | 'entry' | 'schedule' | 'fetchAt'>[] = [];
  for (const source of wanted) {
    const place = `${source.url}\n${source.sheet}`;
    const before = present.get(place);
    present.delete(place);
    const next = () => nextInstant(source.schedule, seriesTimeZone, now);
    if (before === undefined) {
      const name = freeName(source, usedNames);
      usedNames.add(name);
      added.push({ ...source, name, fetchAt: next() });
    } else if (before.schedule !== source.schedule || !isSameEntry(before.entry, source.entry)) {
      const fetchAt = before.schedule === source.schedule ? before.fetchAt : next();
      changed.push({ name: before.name, entry: source.entry, schedule: source.schedule, fetchAt });
    }
  }
  const ended = isNew ? [] : [...present.values()].map(({ name }) => name);
  return { added, changed, ended };
}

/** The entry as the database stores it: in JSON, with its keys in another order. */
const isSameEntry = (stored: object, entry: object): boolean =>
  isDeepStrictEqual(stored, JSON.parse(JSON.stringify(entry)));

const nameLengthMax = 180;

/** The publication, the name of the file and the sheet; with a number if another source has that name. */
function freeName({ publication, url, sheet }: Wanted, usedNames: ReadonlySet<string>): string {
  const { stem: file } = splitEndings(new URL(url).pathname.replace(/^.*\//s, ''));
  const name = [publication, file, sheet]
    .map((part) => part.replaceAll(/[^A-Za-z0-9._-]+/g, '-'))
    .filter((part) => part !== '')
    .join('.')
    .slice(0, nameLengthMax);
  let free = name;
  for (let number = 2; usedNames.has(free); number++) free = `${name}.${number}`;
  return free;
}
