// The API key with which a visitor sees more than previews. It exists only in memory until the page is left; no URL or storage contains it.
import { computed, signal } from '@preact/signals';
import { createClient } from '../../clients/typescript/client.ts';

const given = signal<string | undefined>(undefined);

/** The field for a key. A masked or incomplete one could not even be sent. */
export const keyInput = {
  ...{ type: 'password', autocomplete: 'off', spellcheck: false, required: true, placeholder: 'pk_live_…' },
  pattern: String.raw`\s*pk_live_[0-9A-Za-z]{42}\s*`,
  title: 'A whole key: pk_live_ and 42 letters and digits. The masked form in a list is not enough.',
} as const;

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
