// Natural batching: items that arrive in one turn of the event loop form a batch; items that arrive while it runs form the next. A burst needs few
// round trips, and a single item costs one, as without batching.

/**
 * @param itemsMax the most items of a batch.
 * @param send sends one request for many items, and returns their results in the same order.
 * @returns processes one item; rejects if the request that included it does.
 */
export function batched<Item, Result>(
  itemsMax: number,
  send: (items: readonly Item[]) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  interface Waiting {
    item: Item;
    resolve(result: Result): void;
    reject(error: unknown): void;
  }
  const queue: Waiting[] = [];
  let isSending = false;

  async function sendAll(): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.splice(0, itemsMax);
      try {
        const results = await send(batch.map(({ item }) => item));
        if (results.length !== batch.length) throw new Error('The answer to a batch has a different length.');
        for (let i = 0; i < batch.length; i += 1) batch[i]?.resolve(results[i] as Result);
      } catch (error) {
        for (const waiting of batch) waiting.reject(error);
      }
    }
    isSending = false;
  }

  return (item) =>
    new Promise((resolve, reject) => {
      queue.push({ item, resolve, reject });
      if (isSending) return;
      isSending = true;
      // Deferred: calls read in one turn of the event loop, or woken by one answer, share a batch.
      setImmediate(() => void sendAll());
    });
}
