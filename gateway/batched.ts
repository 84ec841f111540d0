// Natural batching: items that arrive in one turn of the event loop form a batch; those that arrive while it is under way form the
// next. A burst needs few round trips, and a single item no more than without batching.

/** At most so many items of a batch, or how many of those that wait, from the first one on; at least one. */
export type BatchSize<Item> = number | ((waiting: Iterable<Item>) => number);

/**
 * @param send makes one call for many items, and returns their results in the same order.
 * @returns processes one item; rejects if the call that included it does.
 */
export function batched<Item, Result>(
  itemsMax: BatchSize<Item>,
  send: (items: readonly Item[]) => Promise<readonly (Result | Promise<Result>)[]>,
): (item: Item) => Promise<Result> {
  return batchedBy(itemsMax, () => '', send);
}

/**
 * As `batched`, with a queue per key, so that a slow call delays only its own key. The queues of a turn begin together, without a
 * turn of their own between them: what they send, such as scripts for Redis, can be sent as one.
 */
export function batchedBy<Item, Result>(
  itemsMax: BatchSize<Item>,
  keyOf: (item: Item) => string,
  send: (items: readonly Item[]) => Promise<readonly (Result | Promise<Result>)[]>,
): (item: Item) => Promise<Result> {
  interface Waiting {
    item: Item;
    resolve(result: Result | Promise<Result>): void;
    reject(error: unknown): void;
  }
  const sizeOf = (queue: readonly Waiting[]): number =>
    typeof itemsMax === 'number' ? itemsMax : itemsMax(queue.values().map(({ item }) => item));
  const queues = new Map<string, Waiting[]>(); // for keys with a call under way
  let beginning: string[] = [];

  async function sendAll(key: string, queue: Waiting[]): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.splice(0, sizeOf(queue));
      try {
        const results = await send(batch.map(({ item }) => item));
        if (results.length !== batch.length) throw new Error('A batch was answered in another length.');
        for (let i = 0; i < batch.length; i += 1) batch[i]?.resolve(results[i] as Result);
      } catch (error) {
        for (const waiting of batch) waiting.reject(error);
      }
    }
    queues.delete(key);
  }

  function begin(): void {
    const keys = beginning;
    beginning = [];
    for (const key of keys) void sendAll(key, queues.get(key) ?? []);
  }

  return (item) =>
    new Promise((resolve, reject) => {
      const key = keyOf(item);
      const waiting = { item, resolve, reject };
      const queue = queues.get(key);
      if (queue === undefined) {
        queues.set(key, [waiting]);
        // Not at once: calls that were read in one turn of the event loop, or woken by one answer, then stay together.
        if (beginning.length === 0) setImmediate(begin);
        beginning.push(key);
      } else queue.push(waiting);
    });
}
