import test from 'ava';
import { batched, batchedBy } from './batched.ts';

/** A send that answers each batch when told. */
function heldSend() {
  const batches: {
    items: readonly number[];
    answer: (results: string[]) => void;
    fail: (error: Error) => void;
  }[] = [];
  const send = (items: readonly number[]) =>
    new Promise<string[]>((answer, fail) => void batches.push({ items, answer, fail }));
  return { batches, send };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('while one call is under way, what arrives waits and goes together, and each gets its own result', async (t) => {
  const { batches, send } = heldSend();
  const ask = batched(500, send);
  const first = ask(1);
  await turn();
  const rest = [2, 3, 4].map((item) => ask(item));
  await turn();
  t.deepEqual(
    batches.map(({ items }) => items),
    [[1]],
  );
  batches[0]?.answer(['one']);
  await turn();
  t.deepEqual(batches[1]?.items, [2, 3, 4]);
  batches[1]?.answer(['two', 'three', 'four']);
  t.deepEqual(await Promise.all([first, ...rest]), ['one', 'two', 'three', 'four']);
});

test('what arrives in one turn goes together', async (t) => {
  const { batches, send } = heldSend();
  const ask = batched(500, send);
  void Promise.all([1, 2].map((item) => ask(item)));
  await turn();
  t.deepEqual(
    batches.map(({ items }) => items),
    [[1, 2]],
  );
});

test('no batch is larger than the most', async (t) => {
  const { batches, send } = heldSend();
  const ask = batched(2, send);
  const asked = [1, 2, 3, 4, 5].map((item) => ask(item));
  for (let i = 0; i < 3; i += 1) {
    await turn();
    batches[i]?.answer((batches[i]?.items ?? []).map(String));
  }
  await turn();
  t.deepEqual(
    batches.map(({ items }) => items),
    [[1, 2], [3, 4], [5]],
  );
  t.deepEqual(await Promise.all(asked), ['1', '2', '3', '4', '5']);
});

test('a batch may be as large as the items that wait say: those behind it are the next', async (t) => {
  const { batches, send } = heldSend();
  const untilEven = (waiting: Iterable<number>) => [...waiting].findIndex((item) => item % 2 === 0) + 1;
  const ask = batched(untilEven, send);
  const asked = [1, 2, 4, 3, 5, 6].map((item) => ask(item));
  for (let i = 0; i < 3; i += 1) {
    await turn();
    batches[i]?.answer((batches[i]?.items ?? []).map(String));
  }
  t.deepEqual(
    batches.map(({ items }) => items),
    [[1, 2], [4], [3, 5, 6]],
  );
  t.deepEqual(await Promise.all(asked), ['1', '2', '4', '3', '5', '6']);
});

test('a failed call fails its own items only', async (t) => {
  const { batches, send } = heldSend();
  const ask = batched(500, send);
  const first = ask(1);
  await turn();
  const second = ask(2);
  batches[0]?.fail(new Error('lost'));
  await t.throwsAsync(first, { message: 'lost' });
  await turn();
  batches[1]?.answer(['two']);
  t.is(await second, 'two');
});

test('a wrong number of results is given to nobody', async (t) => {
  const ask = batched(500, async () => ['one', 'more']);
  await t.throwsAsync(ask(1));
});

test('the queues of a turn begin together: what they send can be sent as one', async (t) => {
  const order: string[] = [];
  const ask = batchedBy(
    500,
    (item: string) => item,
    (items) => {
      order.push(`sends ${items.join()}`);
      process.nextTick(() => order.push('a tick later'));
      return Promise.resolve(items);
    },
  );
  await Promise.all(['a', 'b', 'a', 'c'].map((item) => ask(item)));
  t.deepEqual(order.slice(0, 4), ['sends a,a', 'sends b', 'sends c', 'a tick later']);
});
