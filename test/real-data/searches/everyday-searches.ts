// Everyday queries over the data of four offices, loaded by `almanac publish`: the intended series is among the first three hits.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInstallation } from '../../services/instance.ts';
import { instanceOf, type Instance } from '../answers.ts';
import type { Check } from '../run.ts';
import { queries } from './queries.ts';

const firstHits = 3;
const callsAtOnce = 4;

/** The folders, and the source that the operator states for each. */
const published = [
  ['01_core_series_pddl', 'datahub.io'],
  ['06_sbp_easydata_pakistan', 'State Bank of Pakistan'],
  ['07_wfp_food_prices', 'World Food Programme, Pakistan'],
  ['02_vintages_fred_md', 'FRED-MD, Federal Reserve Bank of St. Louis'],
] as const;

export async function checkEverydaySearches({ folder, seen }: Pick<Check, 'folder' | 'seen'>): Promise<void> {
  const scratch = mkdtempSync(path.join(tmpdir(), 'almanac-searches-'));
  const installation = await createInstallation();
  try {
    const serving = await installation.start();
    assert.ok(serving.apiKey, 'the first start prints a key');
    const instance = instanceOf(installation, serving.apiKey);
    for (const [name, source] of published) {
      const copy = copyOf(path.join(folder, name), path.join(scratch, name));
      await installation.almanac('publish', copy, '--yes', '--set', `source=${source}`);
    }
    const asked = queries.trim().split('\n');
    const missed: string[] = [];
    for (let at = 0; at < asked.length; at += callsAtOnce)
      missed.push(...(await missedBy(instance, asked.slice(at, at + callsAtOnce))));
    assert.deepEqual(missed, []);
    seen(`${asked.length} everyday searches have what they mean among the first ${firstHits} hits`);
    assert.equal(await serving.stop(), 0, 'Ctrl-C ends the instance with 0');
  } finally {
    await installation.remove();
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** A copy of a folder to write almanac.yml into; of the vintages the last file. */
function copyOf(from: string, to: string): string {
  mkdirSync(to);
  const names = readdirSync(from).toSorted();
  const chosen = path.basename(from).includes('vintages') ? names.slice(-1) : names;
  for (const name of chosen) cpSync(path.join(from, name), path.join(to, name));
  return to;
}

async function missedBy(instance: Instance, asked: readonly string[]): Promise<string[]> {
  const missed = asked.map(async (line) => {
    const [q = '', meant = ''] = line.split(' | ');
    const answer = await instance.get(
      `/v1/search?${String(new URLSearchParams({ q, limit: String(firstHits) }))}`,
    );
    assert.equal(answer.status, 200, q);
    const { data } = (await answer.json()) as { data: { id: string; name: string }[] };
    const hits = data.map(({ id, name }) => `${id} ${name}`);
    return hits.some((hit) => new RegExp(meant).test(hit)) ? [] : [`${q}: ${hits.join('; ')}`];
  });
  return (await Promise.all(missed)).flat();
}
