// The validity of an answer of data-api: the newest load that it includes, and how long the clock leaves it unchanged. The gateway may cache such an
// answer and answer from memory while no newer load can have been reported.

/** The header; like all `x-almanac-*` headers it is not sent to clients. */
export const validityHeader = 'x-almanac-valid';

/** Where a gateway asks data-api for the state of the data. */
export const newestLoadPath = '/internal/newest-load';

/** How long a gateway may answer from memory, in ms from when it asked for the newest load. */
export const answerLeaseMs = 500;
/**
 * How long after its commit a load is visible everywhere, in ms: leases granted before it have then ended. The clocks of the gateways and of the
 * waiting writer may differ in rate by 50 ms in 500.
 */
export const visibleAfterMs = answerLeaseMs + 50;

/** The state of the data of an installation. */
export interface DataState {
  /** Changes with the build of data-api and with the settings that affect answers. */
  edition: string;
  /** The number of the newest load; 0 without a load. */
  load: number;
}

export interface Validity {
  state: DataState;
  /** For how many ms the answer stays the same, unless there is a load. */
  forMs: number;
}

/** The longest time that is stated, a year. */
const forMsMax = 31_536_000_000;

export function validityText({ state: { edition, load }, forMs }: Validity): string {
  return `${edition} ${load} ${Math.max(0, Math.floor(Math.min(forMs, forMsMax)))}`;
}

/** @returns undefined if the text is not one of `validityText`. */
export function parseValidity(text: string): Validity | undefined {
  const [, edition = '', load, forMs] = /^([A-Za-z0-9_-]{1,64}) (\d{1,15}) (\d{1,12})$/.exec(text) ?? [];
  return edition === '' ? undefined : { state: { edition, load: Number(load) }, forMs: Number(forMs) };
}

/** Whether an answer with the state `has` includes the state `needed`. */
export function includes(has: DataState, needed: DataState): boolean {
  return has.edition === needed.edition && has.load >= needed.load;
}
