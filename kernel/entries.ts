// Reads entries of lists, maps and records that must exist: a missing one throws, and is never replaced by a plausible value.

/** The entry at a position that the list has. */
export function entryAt<Entry>(list: readonly Entry[], position: number): Entry {
  const entry = list[position];
  if (entry === undefined) throw new RangeError(`no entry ${position} in a list of ${list.length}`);
  return entry;
}

/** What a map has under a key. */
export function entryOf<Key, Entry>(map: ReadonlyMap<Key, Entry>, key: Key): Entry {
  const entry = map.get(key);
  if (entry === undefined) throw new RangeError(`no entry ${String(key)} in a map of ${map.size}`);
  return entry;
}

/** What a record has under a name of its own. */
export function memberOf<Member>(record: Readonly<Record<string, Member>>, name: string): Member {
  const member = Object.hasOwn(record, name) ? record[name] : undefined;
  if (member === undefined) throw new RangeError(`no member ${name}`);
  return member;
}
