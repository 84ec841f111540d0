// How long sessions last, and how many an account has.

/** How many hours a session lasts without a call, and in total. */
export const idleHours = 24;
export const absoluteDays = 14;
/**
 * How many minutes after a proof of identity a session counts as fresh. For operators, operator endpoints and adding ways to sign in have the same
 * limit, so that a session that is too old for one is too old for the other.
 */
export const freshMinutes = { holder: 60, operator: 15 };
/** How often the last use is stored. */
export const seenEveryMinutes = 5;
/** The most sessions of an account: another one ends the least recently used. */
export const sessionsMax = 20;
