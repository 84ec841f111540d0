// Reads entries of lists, maps and records that must exist: a missing one throws instead of being replaced by a default.

/** The entry at a position. @throws RangeError if the position does not exist. */
export function entryAt<Entry>(list: readonly Entry[], position: number): Entry {
  const entry = list[position];
  if (entry === undefined) throw new RangeError(`no entry ${position} in a list of ${list.length}`);
  return entry;
}

/** The value of a map's key. @throws RangeError if the key does not exist. */
export function entryOf<Key, Entry>(map: ReadonlyMap<Key, Entry>, key: Key): Entry {
  const entry = map.get(key);
  if (entry === undefined) throw new RangeError(`no entry ${String(key)} in a map of ${map.size}`);
  return entry;
}

/** The value of an own property. @throws RangeError if the property does not exist. */
export function memberOf<Member>(record: Readonly<Record<string, Member>>, name: string): Member {
  const member = Object.hasOwn(record, name) ? record[name] : undefined;
  if (member === undefined) throw new RangeError(`no member ${name}`);
  return member;
}
