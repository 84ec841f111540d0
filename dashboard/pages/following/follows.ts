// The follows of the signed-in user, loaded once per session and updated with each change.
import { effect, signal } from '@preact/signals';
import { accountApi } from '../../api/clients.ts';
import { rowsOf, type Row } from '../../api/rows.ts';
import { session } from '../../api/session.ts';

export type Follow = Row<'/v1/follows'>;
export type Kind = Follow['kind'];
export type Mode = Follow['mode'];

/** Undefined until they are loaded. */
export const follows = signal<readonly Follow[] | undefined>(undefined);

let knownFor: string | undefined;
effect(() => {
  if (session.value?.token === knownFor) return;
  knownFor = session.value?.token;
  follows.value = undefined;
});

export async function loadFollows(signal?: AbortSignal): Promise<void> {
  const query = { limit: 1000, sort: '-created_at' as const };
  follows.value = rowsOf(await accountApi.get('/v1/follows', { query, ...(signal && { signal }) }));
}

/** Follows a subject, with an e-mail at once after each change. */
export async function follow(kind: Kind, of: string): Promise<void> {
  const { data } = await accountApi.post('/v1/follows', { body: { kind, of, mode: 'at_once' } });
  const others = (follows.value ?? []).filter(({ id }) => id !== data.id);
  follows.value = [data, ...others];
}

export async function changeMode(id: string, mode: Mode): Promise<void> {
  const { data } = await accountApi.patch('/v1/follows/{id}', { path: { id }, body: { mode } });
  follows.value = follows.value?.map((each) => (each.id === id ? data : each));
}

export async function unfollow(id: string): Promise<void> {
  await accountApi.delete('/v1/follows/{id}', { path: { id } });
  follows.value = follows.value?.filter((each) => each.id !== id);
}
