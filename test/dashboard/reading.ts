// Values that walks compare: the rows of a table on the page, and the answers of the API in the page's words and numbers.
// Hides how a number is written; it is written here by other means than the dashboard's.
import type { Locator, Page } from 'playwright-core';
import { recordSecret } from '../run/traces.ts';
import type { Stage } from './stage.ts';

export interface Observation {
  date: string;
  value: number | null;
}

/** The answer to the key of the stage. @throws Error if it is not 200. */
export async function readApi<T>({ services, apiKey }: Stage, target: string): Promise<T> {
  const { status, json, text } = await services.call(target, { key: recordSecret(apiKey) });
  if (status !== 200) throw new Error(`${target} answered ${status}: ${text}`);
  return json as T;
}

/** The answer as CSV. @throws Error if it is not 200. */
export async function readCsv({ services, apiKey }: Stage, target: string): Promise<string> {
  const { status, text } = await services.call(target, { key: recordSecret(apiKey) });
  if (status !== 200) throw new Error(`${target} answered ${status}: ${text}`);
  return text;
}

/** Opens the page's form for a key, and enters one. */
export async function useKey(page: Page, key: string): Promise<void> {
  await page.getByRole('button', { name: 'Use your key' }).click();
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Show all data' }).click();
  await page.getByText('Uses your key').waitFor();
}

/** The cells of the body of a table, row by row. */
export async function cellsOf(table: Locator): Promise<string[][]> {
  const columns = await table.locator('thead th').count();
  const cells = await table.locator('tbody td').allTextContents();
  return Array.from({ length: cells.length / columns }, (_row, i) =>
    cells.slice(i * columns, (i + 1) * columns),
  );
}

/** A number as people read it: with separators, a true minus sign and so many digits. */
export function written(value: number | null, digits: number, hasSign = false): string {
  if (value === null) return '–';
  const text = new Intl.NumberFormat('en-GB', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    signDisplay: hasSign ? 'exceptZero' : 'negative',
  }).format(value);
  return text.replace('-', '−');
}

/** `Nov 2020`, of a date in that month. */
export function monthOf(date: string): string {
  return new Intl.DateTimeFormat('en-US', { month: 'short', year: 'numeric', timeZone: 'UTC' }).format(
    new Date(date),
  );
}

/** `5 Dec 2020` */
export function dayOf(date: string): string {
  return `${Number(date.slice(8))} ${monthOf(date)}`;
}
