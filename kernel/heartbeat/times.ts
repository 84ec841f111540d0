// The times that gateways and accounts-api agree on in their heartbeat.

/** How long a gateway may serve by what it keeps, in ms from the moment at which it sent the message that was answered. */
export const leaseMs = 15_000;
/** How long after the end of its lease a life is closed, in ms: what it has not reported as served goes back. */
export const closeAfterMs = 120_000;
