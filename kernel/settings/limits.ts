// The limits that a service has by default, whether a setting is not set or a test leaves the option out.

/** Of the whole answer to a data call. */
export const answerWithinMsByDefault = 300_000;
/** Of a gateway's memory for answers of data-api; MiB. */
export const responseCacheMbByDefault = 64;
/** Of a file that operators send; MiB. */
export const uploadMbByDefault = 64;
/** Of the heap of a process that reads a file; MiB. */
export const fileMemoryMbByDefault = 512;
/** Of one step in which such a process reads a file. */
export const fileSecondsByDefault = 120;
