// Repeats work while a process serves. No run begins while the previous one is still running.

export interface Repeated {
  /** Begins no further run. Resolves when the current run has ended. */
  close(): Promise<void>;
}

export interface RepeatOptions {
  /** From the beginning of one run to that of the next; after a longer run, the next begins at the next multiple. */
  everyMs: number;
  /** Whether a run also begins now. */
  atOnce?: boolean;
  /** Receives what a run throws. */
  onError: (error: unknown) => void;
}

/** A run that waits, such as for a lock, uses one connection: if runs overlapped, each turn of the timer would use another one. */
export function repeat(
  work: () => Promise<unknown>,
  { everyMs, atOnce = false, onError }: RepeatOptions,
): Repeated {
  let running: Promise<void> | undefined;
  const begin = (): void => {
    running ??= Promise.resolve()
      .then(work)
      .then(() => undefined, onError)
      .finally(() => (running = undefined));
  };
  const timer = setInterval(begin, everyMs);
  if (atOnce) begin();
  return {
    async close() {
      clearInterval(timer);
      await running;
    },
  };
}
