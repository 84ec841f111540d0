// Repeats work while a process serves. Hides the timer, and that no run begins while the one before it is under way.

export interface Repeated {
  /** Begins no further run. Resolves when the one under way has ended. */
  close(): Promise<void>;
}

export interface RepeatOptions {
  /** From the beginning of one run to that of the next; a run that takes longer is followed at the next multiple. */
  everyMs: number;
  /** Also begins a run now. */
  atOnce?: boolean;
  /** Is given what a run throws. */
  onError: (error: unknown) => void;
}

/** A run that waits, such as for a lock, holds one connection: without this rule each turn of the timer would take another one. */
export function repeat(
  work: () => Promise<unknown>,
  { everyMs, atOnce = false, onError }: RepeatOptions,
): Repeated {
  let underWay: Promise<void> | undefined;
  const begin = (): void => {
    underWay ??= Promise.resolve()
      .then(work)
      .then(() => undefined, onError)
      .finally(() => (underWay = undefined));
  };
  const timer = setInterval(begin, everyMs);
  if (atOnce) begin();
  return {
    async close() {
      clearInterval(timer);
      await underWay;
    },
  };
}
