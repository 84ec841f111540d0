// The default limits of the services, for unset settings and for options that a test leaves out.

/** The deadline of a complete answer to a data call, in ms. */
export const answerWithinMsByDefault = 300_000;
/** The memory limit of a gateway's response cache, in MiB. */
export const responseCacheMbByDefault = 64;
/** The size limit of a file that operators upload, in MiB. */
export const uploadMbByDefault = 64;
/** The heap limit of a process that reads a file, in MiB. */
export const fileMemoryMbByDefault = 512;
/** The time limit of one step in which such a process reads a file, in seconds. */
export const fileSecondsByDefault = 120;
