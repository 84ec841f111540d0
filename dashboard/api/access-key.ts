// The API key with which a visitor sees more than previews. It exists only in memory until the page is left; no URL or storage contains it.
import { computed, signal } from '@preact/signals';
import { createClient } from '../../clients/typescript/client.ts';

const given = signal<string | undefined>(undefined);

/** Undefined: no key was given, and previews are shown. */
export const accessKey = computed(() => given.value);

/** The client that calls with the key. */
export const keyedApi = computed(() =>
  given.value === undefined ? undefined : createClient({ apiKey: given.value }),
);

/** Uses a key from now on, or stops using one. */
export function giveKey(key: string | undefined): void {
  given.value = key;
}
