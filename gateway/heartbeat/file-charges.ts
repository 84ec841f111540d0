// Charges a file once for a key and a day, however many ranges of it are read: the first range that is served pays, whichever of those under way
// it is. Hides that all ranges under way here hold one call together. Another gateway may charge the same file: accounts-api gives that call back.
import { LRUCache } from 'lru-cache';
import type { ChargedRange } from '../call.ts';
import type { Month, Take } from './month.ts';

/** A file, as one key reads it on one day. */
interface Opened {
  /** The call that the ranges under way hold, or that was paid. */
  take: Take | undefined;
  taking: Promise<Take> | undefined;
  /** Ranges. */
  underWay: number;
  isPaid: boolean;
}

export interface FileReader {
  accountId: string;
  keyId: string;
  /** UTC. */
  day: string;
  /** Its path. */
  file: string;
}

/** A range under way. */
export interface Range extends ChargedRange {
  readonly take: Take;
  /** Whether its answer would pay: then the call must still be valid when it ends. */
  readonly mayPay: boolean;
}

export interface FileCharges {
  /** @returns the take that was refused if the month has no call left for the file. @throws Failure unavailable. */
  begin(reader: FileReader): Range | Take | Promise<Range | Take>;
}

// About 0.3 KB each. A file that is forgotten is charged again here, and given back by accounts-api.
const filesMax = 20_000;

export function createFileCharges(month: Month): FileCharges {
  const files = new LRUCache<string, Opened>({ max: filesMax });

  function openedBy({ keyId, day, file }: FileReader): Opened {
    const name = `${keyId} ${day} ${file}`;
    const known = files.get(name);
    if (known !== undefined) return known;
    const opened: Opened = { take: undefined, taking: undefined, underWay: 0, isPaid: false };
    files.set(name, opened);
    return opened;
  }

  function takeFor(opened: Opened, accountId: string): Take | Promise<Take> {
    if (opened.take !== undefined) return opened.take;
    if (opened.taking !== undefined) return opened.taking;
    const take = month.take(accountId, 1);
    if (!(take instanceof Promise)) return take;
    opened.taking = take.finally(() => (opened.taking = undefined));
    return opened.taking;
  }

  async function beginLater(
    opened: Opened,
    waiting: Promise<Take>,
    reader: FileReader,
  ): Promise<Range | Take> {
    const take = await waiting;
    // Of those who waited for the call, the first may have given it back already.
    const isOver = opened.take !== take && take.charge !== null && ended.has(take);
    return isOver ? begin(reader) : rangeOf(opened, take, reader.file);
  }

  function begin(reader: FileReader): Range | Take | Promise<Range | Take> {
    const opened = openedBy(reader);
    const take = takeFor(opened, reader.accountId);
    return take instanceof Promise ? beginLater(opened, take, reader) : rangeOf(opened, take, reader.file);
  }

  return { begin };
}

/** Whose call was charged or given back. */
const ended = new WeakSet<Take>();

function rangeOf(opened: Opened, take: Take, file: string): Range | Take {
  const { charge } = take;
  if (charge === null) return take;
  opened.take = take;
  opened.underWay += 1;
  let charged: number | undefined;
  return {
    ...{ take, file, mayPay: !opened.isPaid },
    end(isServed) {
      if (charged !== undefined) return charged;
      charged = 0;
      opened.underWay -= 1;
      if (opened.isPaid) return charged;
      if (isServed) {
        opened.isPaid = true;
        charged = 1;
      } else if (opened.underWay > 0) return charged;
      else opened.take = undefined; // none was served: the next one may be charged
      ended.add(take);
      charge.end(isServed);
      return charged;
    },
  };
}
