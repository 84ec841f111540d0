// The triangle of a series against the answers of `vintage=` for every one of its vintages, cell by cell, both as CSV with the published digits.
import assert from 'node:assert/strict';
import { json, type Instance } from './answers.ts';

/** Asserts that they are the same, in both layouts. @returns how many cells and vintages were compared. */
export async function compareTriangle(
  instance: Instance,
  id: string,
): Promise<{ cells: number; vintages: number }> {
  const { data } = (await json(instance, `/v1/series/${id}/vintages?limit=1000`)) as {
    data: { vintage: string }[];
  };
  const expected: string[] = [];
  for (const { vintage } of data) {
    const asOf = await linesOf(instance, `/v1/series/${id}?vintage=${vintage}&format=csv`);
    expected.push(...asOf.map((line) => `${vintage},${line}`));
  }
  const found = await linesOf(instance, `/v1/series/${id}/triangle?format=csv`);
  assert.equal(found.length, expected.length, id);
  assert.deepEqual(found.toSorted(), expected.toSorted(), id);

  const wide = (await json(instance, `/v1/series/${id}/triangle?layout=wide`)) as {
    meta: { vintages: string[] };
    data: { date: string; values: (number | null)[] }[];
  };
  assert.deepEqual(
    wide.meta.vintages,
    data.map(({ vintage }) => vintage),
  );
  const values = wide.data.flatMap((row) => row.values.filter((value) => value !== null));
  assert.equal(values.length, expected.length, `${id}, wide`);
  return { cells: found.length, vintages: data.length };
}

async function linesOf(instance: Instance, target: string): Promise<string[]> {
  const response = await instance.get(target);
  const text = await response.text();
  assert.equal(response.status, 200, `${target}: ${text.slice(0, 300)}`);
  return text.split('\r\n').slice(1, -1);
}
