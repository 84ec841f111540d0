// Visitors of the dashboard: each has its own browser context, whose faults are collected. Hides Playwright's set-up, axe-core, and
// where pictures go.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import axe from 'axe-core';
import { until } from '../run/until.ts';
import { chromium, type BrowserContext, type Page } from 'playwright-core';
import { layoutFaultsOf } from './fitting.ts';

export interface Visitor {
  page: Page;
  width: number;
  /** Console errors, uncaught errors, breaches of the Content-Security-Policy and answers of status 400 or more, so far. */
  faults: readonly string[];
  /** How often it has looked. */
  looked: number;
  /** Measurements for people: no check depends on them. */
  measured: string[];
  /** Opens a path of the dashboard. */
  open(target: string): Promise<void>;
  /**
   * Checks the page by axe-core, light and dark, and saves a picture of each if pictures are saved.
   * @param name of the page, in file names. @throws Error that names each serious or critical fault.
   */
  look(name: string): Promise<void>;
  /** From now on an answer of this status is no fault, as where a walk tries a wrong password. */
  expectStatus(status: number): void;
  /** Notes a fault of the page. */
  report(fault: string): void;
  /** @throws Error with the faults, if there are any. */
  assertNoFaults(): void;
  /** Saves a picture of the page as it is now. @returns its file. */
  saveFailure(of: string): Promise<string>;
  leave(): Promise<void>;
}

export interface Browsers {
  visitor(width: number): Promise<Visitor>;
  close(): Promise<void>;
}

interface BrowserOptions {
  executable: string;
  /** The dashboard's; every other host than this machine's is cut off. */
  origin: string;
  screenshots: string | undefined;
  /** The directory for pictures of failures. */
  failures: string;
}

const themes = ['light', 'dark'] as const;
/** Of a picture; longer pages are cut. */
const heightMax = 2400;
/** Ends a wait that would never end: a busy machine takes a while for a page. */
const waitMs = 60_000;

export async function openBrowser(options: BrowserOptions): Promise<Browsers> {
  const browser = await chromium.launch({
    executablePath: options.executable,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--force-color-profile=srgb'],
  });
  let visitors = 0;
  return {
    async visitor(width) {
      visitors += 1;
      const context = await browser.newContext({
        viewport: { width, height: width < 720 ? 812 : 900 },
        hasTouch: width < 720,
        locale: 'en-GB',
        timezoneId: 'Asia/Karachi', // far from UTC: a page that shows local times would be seen
        reducedMotion: 'reduce',
        permissions: ['clipboard-read', 'clipboard-write'],
        extraHTTPHeaders: { 'x-forwarded-for': `203.0.113.${visitors}` },
      });
      context.setDefaultTimeout(waitMs);
      await context.route(
        ({ hostname }) => hostname !== '127.0.0.1' && hostname !== 'localhost',
        (route) => route.abort(),
      );
      return visitorIn(context, width, options);
    },
    close: () => browser.close(),
  };
}

async function visitorIn(context: BrowserContext, width: number, options: BrowserOptions): Promise<Visitor> {
  const { origin, screenshots, failures } = options;
  const page = await context.newPage();
  const expected = new Set<number>();
  const faults = faultsOf(page, origin, expected);
  const visitor: Visitor = {
    page,
    width,
    faults,
    looked: 0,
    measured: [],
    async open(target) {
      await page.goto(origin + target);
    },
    async look(name) {
      await page.evaluate('scrollTo(0, 0)'); // the bar sticks to the top of the visible part
      for (const theme of themes) {
        await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
        await until('nothing is loading', async () => (await page.locator('[aria-busy=true]').count()) === 0);
        await checkAccess(page, `${name}, ${width} px, ${theme}`);
        if (screenshots !== undefined)
          await savePicture(page, path.join(screenshots, `${name}-${width}-${theme}.png`));
      }
      await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
      faults.push(...(await layoutFaultsOf(page)).map((misfit) => `${name}, ${width} px: ${misfit}`));
      visitor.looked += 1;
    },
    report: (fault) => void faults.push(fault),
    expectStatus: (status) => void expected.add(status),
    assertNoFaults() {
      if (faults.length > 0) throw new Error(`The page has faults:\n${faults.join('\n')}`);
    },
    async saveFailure(of) {
      mkdirSync(failures, { recursive: true });
      const file = path.join(failures, `${of.replaceAll(/\W+/g, '-')}-${width}.png`);
      await page.screenshot({ path: file });
      return file;
    },
    leave: () => context.close(),
  };
  return visitor;
}

/** Collects faults on pages of the origin; those of Stripe and the OpenID server are not ours. */
function faultsOf(page: Page, origin: string, expected: ReadonlySet<number>): string[] {
  const faults: string[] = [];
  const named = origin.replace('127.0.0.1', 'localhost'); // the same pages, by the name of this machine
  const isOurs = (url: string) => url.startsWith(origin) || url.startsWith(named);
  page.on('pageerror', (error) => faults.push(`uncaught: ${error.stack ?? error.message}`));
  page.on('console', (message) => {
    const { url } = message.location();
    // An answer of status 400 or more is reported twice; the listener below knows its status.
    if (message.type() !== 'error' || message.text().startsWith('Failed to load resource')) return;
    if (url === '' || isOurs(url)) faults.push(`console: ${message.text()} (${url})`);
  });
  page.on('response', (response) => {
    const isExpected = response.status() < 400 || expected.has(response.status());
    if (!isExpected && isOurs(response.url()))
      faults.push(`${response.request().method()} ${response.url()} answered ${response.status()}`);
  });
  page.on('requestfailed', (request) => {
    const why = request.failure()?.errorText ?? '';
    // A page aborts its requests when the visitor leaves it.
    if (isOurs(request.url()) && why !== 'net::ERR_ABORTED')
      faults.push(`${request.method()} ${request.url()} failed: ${why}`);
  });
  return faults;
}

async function checkAccess(page: Page, where: string): Promise<void> {
  // Given to the page by the debugger: its Content-Security-Policy stays active.
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<axe.AxeResults>(
    `axe.run(document, { resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })`,
  );
  const grave = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  if (grave.length === 0) return;
  const reported = grave.map(
    ({ id, help, nodes }) =>
      `${id}: ${help}\n${nodes.map(({ html, failureSummary }) => `    ${html}\n    ${failureSummary ?? ''}`).join('\n')}`,
  );
  throw new Error(`axe-core finds in ${where}:\n${reported.join('\n')}`);
}

async function savePicture(page: Page, file: string): Promise<void> {
  const { width = 0, height: seen = 0 } = page.viewportSize() ?? {};
  // The page behind a dialog is dimmed in the window only.
  const whole = (await page.locator('dialog[open]').count()) === 0;
  const long = await page.evaluate<number>('document.documentElement.scrollHeight');
  const height = whole ? Math.min(long, heightMax) : seen;
  const clip = { x: 0, y: 0, width, height };
  await page.screenshot({ path: file, clip, fullPage: whole, animations: 'disabled', scale: 'css' });
}
