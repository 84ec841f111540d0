import test from 'ava';
import { batched } from './batched.ts';

/** A `send` whose batches the test answers one by one. */
function manualSend() {
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

test('items that arrive while a call is running wait and are sent together, and each gets its own result', async (t) => {
  const { batches, send } = manualSend();
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

test('items that arrive in one turn are sent together', async (t) => {
  const { batches, send } = manualSend();
  const ask = batched(500, send);
  void Promise.all([1, 2].map((item) => ask(item)));
  await turn();
  t.deepEqual(
    batches.map(({ items }) => items),
    [[1, 2]],
  );
});

test('no batch is larger than the maximum', async (t) => {
  const { batches, send } = manualSend();
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

test('a failed call fails its own items only', async (t) => {
  const { batches, send } = manualSend();
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

test('no item gets a result if the number of results is wrong', async (t) => {
  const ask = batched(500, async () => ['one', 'more']);
  await t.throwsAsync(ask(1));
});
