// The times that gateways and accounts-api agree on for their heartbeat.

/** How long a gateway may use cached state, in ms from when it sent the answered message. */
export const leaseMs = 15_000;
/** How long after the end of its lease a life is closed, in ms. Its calls that it has not reported as served are freed. */
export const closeAfterMs = 120_000;
