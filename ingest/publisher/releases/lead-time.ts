// How long before its instant the load of a release begins.

const marginMs = 5_000;
/** At most a day. */
const leadMsMax = 24 * 3_600_000;

/** Three times the duration of the check, and a margin. @param checkSeconds the duration of the check. */
export function leadMsOf(checkSeconds: number): number {
  return Math.min(leadMsMax, Math.round(checkSeconds * 3_000) + marginMs);
}
