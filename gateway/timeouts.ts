// How long the gateway waits for its clients and for the services, in ms; options.ts has the times that can be set.

/** Closes a client's idle connection after this time: longer than the usual idle time of load balancers, 60 s. */
export const clientIdleMs = 65_000;

/** A service that accepts no connection within this time counts as unavailable. */
export const connectWithinMs = 2_000;

/** Closes an idle connection to a service after this time if the service sends no Keep-Alive hint; our own services send 75 s. */
export const serviceIdleMs = 4_000;

/** The longest time for which a Keep-Alive hint is followed. */
export const serviceIdleMaxMs = 60_000;

/** Abandons a request to accounts-api after this time: all calls wait behind a request that hangs. */
export const accountsWithinMs = 2_000;
