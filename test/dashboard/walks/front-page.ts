// See the front page as an operator has configured it: their words, logo and series, and the blocks that they have left in.
import type { Walk } from '../walks.ts';
import { assert, assertSame } from '../people.ts';
import { readApi } from '../reading.ts';

interface Answer<Data> {
  success: true;
  data: Data;
}

const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" width="180" height="48"><rect width="180" height="48" rx="6" fill="#1b50c2"/></svg>';

export const configuredFrontPage: Walk = {
  name: 'see a front page that an operator has configured',
  async run(stage, visitor) {
    const { page } = visitor;
    const front = await readApi<Answer<object>>(stage, '/v1/front-page');
    const { data: series } = await readApi<Answer<{ id: string }[]>>(stage, '/v1/catalog?sort=-id&limit=3');
    // The file is read when a service starts: the answer is changed on its way instead.
    const configured = {
      title: 'Statistics of Ruritania',
      text_html:
        '<p>Prices and output since 1990. <a href="/catalogue">All series</a></p><ul><li>Free of charge</li></ul>',
      logo: { src: `data:image/svg+xml;base64,${btoa(logo)}`, alt: 'Statistics Office' },
      blocks: ['series', 'newest', 'calls'],
      ...{ series_title: 'Key figures', series },
    };
    await page.route('**/v1/front-page', (route) =>
      route.fulfill({ json: { ...front, data: { ...front.data, ...configured } } }),
    );
    await visitor.open('/');
    await page.getByRole('heading', { level: 1, name: configured.title }).waitFor();
    assertSame(await page.title(), `${configured.title} · Almanac`, 'the title of the window');
    await page.getByRole('img', { name: configured.logo.alt }).waitFor();
    assert(
      await page.evaluate<boolean>(`document.querySelector('.hero-logo').naturalWidth > 0`),
      'the logo is shown under the policy of the page',
    );
    await page.getByText('Free of charge').waitFor();
    const chosen = page.getByRole('table', { name: configured.series_title });
    await chosen.waitFor();
    assertSame(
      (await chosen.locator('.mono').allTextContents()).join(),
      series.map(({ id }) => id).join(),
      'the chosen series in their order',
    );
    await page.getByRole('heading', { name: 'How to call it' }).waitFor();
    for (const left of ['Next releases', 'Data in this installation'])
      assertSame(await page.getByRole('heading', { name: left }).count(), 0, left);
    assertSame(await page.getByLabel('In short').count(), 0, 'the figures');
    await visitor.look('home-configured');
    await page.unroute('**/v1/front-page');
  },
};
