// Charges a file once per key and day, however many of its ranges are read: the first range that is served is charged. All ranges in flight here share
// one reserved call. Another gateway may charge the same file; accounts-api then refunds that call.
import { LRUCache } from 'lru-cache';
import type { ChargedRange } from '../call.ts';
import type { Month, Reservation } from './month-quota.ts';

/** A file, as one key reads it on one day. */
interface Opened {
  /** The call that is reserved for the ranges in flight, or was charged. */
  reservation: Promise<Reservation> | undefined;
  /** The number of ranges in flight, including those that await the reservation. */
  inFlight: number;
  isPaid: boolean;
}

export interface FileReader {
  accountId: string;
  keyId: string;
  /** `YYYY-MM-DD`, UTC. */
  day: string;
  /** The file's path. */
  file: string;
}

/** A range in flight. */
export interface Range extends ChargedRange {
  readonly reservation: Reservation;
  /** Whether the file may be charged for this range. If so, its reservation must still be valid when the response ends. */
  readonly mayPay: boolean;
}

export type FileCharges = ReturnType<typeof createFileCharges>;

// About 0.3 KB each. An evicted file is charged again here, and accounts-api refunds the call.
const filesMax = 20_000;

export function createFileCharges(month: Month) {
  const files = new LRUCache<string, Opened>({ max: filesMax });

  function openedBy({ keyId, day, file }: FileReader): Opened {
    const name = `${keyId} ${day} ${file}`;
    const known = files.get(name);
    if (known !== undefined) return known;
    const opened: Opened = { reservation: undefined, inFlight: 0, isPaid: false };
    files.set(name, opened);
    return opened;
  }

  return {
    /** @returns the refused reservation if the month has no call left for the file. @throws Failure unavailable. */
    async begin(reader: FileReader): Promise<Range | Reservation> {
      const opened = openedBy(reader);
      // From now on: a range that ends while others still await the reservation must not release it.
      opened.inFlight += 1;
      // Ranges that begin during the reservation share it.
      const reserved = (opened.reservation ??= (async () => month.reserve(reader.accountId, 1))());
      let reservation: Reservation | undefined;
      try {
        reservation = await reserved;
      } finally {
        if (!reservation?.charge) {
          opened.inFlight -= 1;
          if (opened.reservation === reserved) opened.reservation = undefined; // the next range tries again
        }
      }
      return rangeOf(opened, reservation, reader.file);
    },
  };
}

function rangeOf(opened: Opened, reservation: Reservation, file: string): Range | Reservation {
  const { charge } = reservation;
  if (charge === null) return reservation;
  let charged: number | undefined;
  return {
    ...{ reservation, file, mayPay: !opened.isPaid },
    end(isServed) {
      if (charged !== undefined) return charged;
      charged = 0;
      opened.inFlight -= 1;
      if (opened.isPaid) return charged;
      if (isServed) {
        opened.isPaid = true;
        charged = 1;
      } else if (opened.inFlight > 0) return charged;
      else opened.reservation = undefined; // no range was served: the next one may be charged
      charge.end(isServed);
      return charged;
    },
  };
}
