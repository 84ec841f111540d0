// What addresses were answered with last, and how long that holds: a call that comes again need not be read again.
// Hides which addresses are let go: those not asked for longest.
import type { Clock } from '../kernel/clock.ts';
import type { CachingHeaders } from './reply.ts';
import type { SeriesFacts } from './series-facts.ts';
import type { Series } from './series.sql.ts';

export interface KnownAddresses {
  get(address: string): KnownAddress | undefined;
  /** Whether the address would be answered the same now. */
  holds(known: KnownAddress): Promise<boolean>;
  keep(address: string, headers: CachingHeaders, series: Series): void;
}

export interface KnownAddress {
  headers: CachingHeaders;
  /** Of the series: while it is the same, so is the answer. */
  id: string;
  rowVersion: string;
  /** The next release, which the answer names; from then on it names another. */
  untilMs: number;
}

const addressesMax = 10_000;
const addressLengthMax = 500;

export function createKnownAddresses(seriesFacts: SeriesFacts, clock: Clock): KnownAddresses {
  const addresses = new Map<string, KnownAddress>(); // in order of last use

  function put(address: string, known: KnownAddress): void {
    addresses.delete(address);
    addresses.set(address, known);
  }

  return {
    get(address) {
      const known = addresses.get(address);
      if (known !== undefined) put(address, known);
      return known;
    },
    holds: ({ id, rowVersion, untilMs }) =>
      untilMs > clock.now().getTime() ? seriesFacts.isCurrent(id, rowVersion) : Promise.resolve(false),
    keep(address, headers, { id, rowVersion, releases: [nextRelease] }) {
      if (address.length > addressLengthMax) return;
      const untilMs = nextRelease === undefined ? Number.POSITIVE_INFINITY : Date.parse(nextRelease);
      put(address, { headers, id, rowVersion, untilMs });
      const [oldest] = addresses.keys();
      if (addresses.size > addressesMax && oldest !== undefined) addresses.delete(oldest);
    },
  };
}
