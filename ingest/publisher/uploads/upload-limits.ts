// How long uploads are stored, and how many an account has.

const hourMs = 3_600_000;
export const uploadLifetimeMs = 24 * hourMs;
/** An upload that is still incomplete after this time is deleted. */
export const uploadArrivalMs = hourMs;
export const uploadsPerAccountMax = 10;
