// Find a section of the docs by its words, read on by the links below the page, and open the list of pages.
import { until } from '../../run/until.ts';
import { assert } from '../people.ts';
import type { Walk } from '../walks.ts';

export const readDocs: Walk = {
  name: 'search the docs, and read on',
  async run(_stage, visitor) {
    const { page } = visitor;
    await visitor.open('/docs');
    await page.getByRole('searchbox', { name: 'Search the docs' }).fill('retract a load');
    const first = page.getByRole('region', { name: 'Found' }).getByRole('link').first();
    await first.waitFor();
    await visitor.look('docs-found');
    const target = await first.getAttribute('href');
    await first.click();
    await page.waitForURL(`**${target ?? ''}`);
    const anchor = decodeURIComponent(target?.split('#')[1] ?? '');
    assert(anchor !== '', 'the first section found has an anchor');
    await page.locator(`[id="${anchor}"]`).waitFor();
    await until('the section that was found is on the screen', async () => {
      const { y = -1 } = (await page.locator(`[id="${anchor}"]`).boundingBox()) ?? {};
      return y >= 0 && y < (page.viewportSize()?.height ?? 0);
    });

    await visitor.open('/docs/api');
    await page.getByRole('link', { name: 'Next' }).click();
    await page.getByRole('heading', { level: 1, name: 'Frequencies and transforms' }).waitFor();
    await visitor.look('docs-transforms');
    await page.getByRole('link', { name: 'Previous' }).click();
    await page.getByRole('heading', { level: 1, name: 'HTTP API' }).waitFor();

    if (await page.getByRole('button', { name: 'Contents' }).isVisible())
      await page.getByRole('button', { name: 'Contents' }).click();
    await visitor.look('docs-contents');
    const list = page.getByRole('navigation', { name: 'Docs' });
    await list.getByRole('link', { name: 'Webhooks' }).click();
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
    await list.getByRole('searchbox', { name: 'Search the docs' }).fill('signature');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs?q=signature');
    await page.getByRole('region', { name: 'Found' }).getByText('Webhooks').first().waitFor();
    await page.getByRole('searchbox', { name: 'Search the docs' }).fill('xylophones');
    await page.getByText('No section of the docs has these words.').waitFor();
  },
};
