// Natural batching: while one call is under way, what arrives waits and goes together with the next.
// A burst so costs few round trips, and a lone item none more than it would alone.

/**
 * @param send makes one call for many items, and gives their results in the same order.
 * @returns asks for one item; rejects as the call that carried it does.
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
  let underWay = false;

  async function sendAll(): Promise<void> {
    underWay = true;
    while (queue.length > 0) {
      const batch = queue.splice(0, itemsMax);
      try {
        const results = await send(batch.map(({ item }) => item));
        if (results.length !== batch.length) throw new Error('A batch was answered in another length.');
        for (const [i, waiting] of batch.entries()) waiting.resolve(results[i] as Result);
      } catch (error) {
        for (const waiting of batch) waiting.reject(error);
      }
    }
    underWay = false;
  }

  return (item) =>
    new Promise((resolve, reject) => {
      queue.push({ item, resolve, reject });
      if (!underWay) void sendAll();
    });
}

/** As `batched`, with a queue for each key: one that waits long holds up its own kind only. */
export function batchedBy<Item, Result>(
  itemsMax: number,
  keyOf: (item: Item) => string,
  send: (items: readonly Item[]) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  const lanes = new Map<string, { ask: (item: Item) => Promise<Result>; waiting: number }>();
  return async (item) => {
    const key = keyOf(item);
    const lane = lanes.get(key) ?? { ask: batched(itemsMax, send), waiting: 0 };
    lanes.set(key, lane);
    lane.waiting += 1;
    try {
      return await lane.ask(item);
    } finally {
      lane.waiting -= 1;
      if (lane.waiting === 0) lanes.delete(key);
    }
  };
}
