// The API key that a visitor has given for full data: kept in memory alone, so that it ends with the page and stands nowhere.
import { computed, signal } from '@preact/signals';
import { createClient } from '../../clients/typescript/client.ts';

/** Undefined: none was given, and public endpoints have to do. */
export const dataKey = signal<string | undefined>(undefined);

/** Calls with that key; undefined without one. */
export const dataApi = computed(() =>
  dataKey.value === undefined ? undefined : createClient({ apiKey: dataKey.value }),
);
