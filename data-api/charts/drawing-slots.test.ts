import test from 'ava';
import { createDrawingSlots, drawingSlotsMax } from './drawing-slots.ts';

/** An image whose drawing ends when the test releases it. */
function pendingImage() {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  return { draw: () => promise, resolve: () => resolve(Buffer.from('image')), reject };
}

const refused = { code: 'rate_limited', message: /Try again in a second/ };
const never = () => Promise.reject(new Error('it is not drawn'));
const drawOne = () => Promise.resolve(Buffer.from('one'));

test('one image per account is drawn at a time; another account has its own slot', async (t) => {
  const { draw: drawn } = createDrawingSlots();
  const first = pendingImage();
  const one = drawn({ accountId: 'a', name: '1' }, first.draw);
  t.throws(() => drawn({ accountId: 'a', name: '2' }, never), refused);
  t.is(String(await drawn({ accountId: 'b', name: '3' }, drawOne)), 'one');
  first.resolve();
  t.is(String(await one), 'image');
  t.is(String(await drawn({ accountId: 'a', name: '2' }, drawOne)), 'one');
});

test('concurrent requests for the same image share one drawing', async (t) => {
  const { draw: drawn } = createDrawingSlots();
  const first = pendingImage();
  const all = ['a', 'a', 'b'].map((accountId, i) =>
    drawn({ accountId, name: 'same' }, i === 0 ? first.draw : never),
  );
  first.resolve();
  t.deepEqual((await Promise.all(all)).map(String), ['image', 'image', 'image']);
});

test('the slots of all accounts are bounded, and a failed drawing frees its slot', async (t) => {
  const { draw: drawn } = createDrawingSlots();
  const images = Array.from({ length: drawingSlotsMax }, pendingImage);
  const all = images.map(({ draw }, i) => drawn({ accountId: `${i}`, name: `${i}` }, draw));
  t.throws(() => drawn({ accountId: 'last', name: 'last' }, never), refused);
  images[0]?.reject(new Error('no font'));
  await t.throwsAsync(all[0] ?? never(), { message: 'no font' });
  t.is(String(await drawn({ accountId: 'last', name: 'last' }, drawOne)), 'one');
  for (const { resolve } of images) resolve();
  await Promise.all(all.slice(1));
});
