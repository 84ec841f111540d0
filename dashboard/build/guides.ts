// The guides of docs/ as modules of the dashboard, rendered when it is built: `virtual:guides` lists them, `virtual:guide/api` has one, and
// `virtual:guides-text` has the text of all for the search. The files are the project's own; raw HTML in them is dropped all the same.
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { Marked, type Tokens } from 'marked';
import type { Plugin } from 'vite';
import { htmlText } from '../../kernel/text/html.ts';

const docsDirectory = path.join(import.meta.dirname, '../../docs');

/** The guides in the order of the list, each with its subject. */
const groups: { title: string; guides: Record<string, string> }[] = [
  {
    title: 'Using the API',
    guides: {
      api: 'Keys, lists, series, funds and markets, each with examples that run.',
      transforms: 'Changes, means and indices, and when they have no value.',
      funds: 'How returns, risk and ranks of funds are computed.',
      errors: 'Each error code: what it means, and what to do about it.',
      accounts: 'Signing in, keys and usage by HTTP.',
      'pinned-keys': 'For backtests: answers as if nothing had been published after a chosen day.',
      webhooks: 'Messages about changes: how to receive and verify them.',
      follow: 'E-mails about changes of series, sources and searches.',
      events: 'Each type of event with its fields and an example.',
      clients: 'Python, R, TypeScript, shell and spreadsheets.',
      tools: 'A recipe for each tool: pandas, Excel, Power BI, DuckDB, Polars and others.',
      fred: 'How FRED’s clients work here, and where Almanac differs.',
      mcp: 'Agents: the tools they call, and the configuration of three clients.',
      bulk: 'Whole sources and datasets as Parquet files.',
    },
  },
  {
    title: 'Running Almanac',
    guides: {
      publish: 'A folder of CSV files and workbooks in, an API out: what happens, almanac.yml and limits.',
      recognised: 'Forms of dates and numbers, encodings, kinds of files and scales, each with an example.',
      'publish-measured':
        'How much Almanac recognises in files that offices, banks and others have published.',
      sources: 'Files that Almanac fetches by itself, from a URL with a schedule.',
      inbox: 'A folder that is watched: every file put into it is loaded.',
      entries: 'Every key of almanac.yml, with the flag of the command line that means the same.',
      ingest: 'Loading CSV files: datasets, vintages, revisions and dry runs.',
      corrections: 'Retracting a load; renaming, deleting and restoring a series.',
      embargo: 'Loading in advance, to become visible at an instant.',
      operator: 'What operators see and change: accounts, plans, keys and loads.',
      operations: 'One machine and clusters, settings, logs, metrics and backups.',
      alerts: 'Each alert: what it means, and what to do about it.',
      scaling: 'More gateways, replicas and partitions.',
      billing: 'Selling plans by Stripe, and what each status of a subscription means.',
      security: 'How accounts and keys are protected, and the test for each attack.',
      performance: 'Measured figures, each with its goal and date.',
      asvs: 'The requirements of OWASP ASVS 5.0, each with its test.',
      'supply-chain': 'Dependencies, their licences, the bill of materials and the image.',
      versions: 'What a version number covers, and how to upgrade.',
      architecture: 'The services, and the path of a call through them.',
    },
  },
];
const all = groups.flatMap(({ guides }) => Object.keys(guides));

/** A guide as its module exports it. */
export interface RenderedGuide {
  title: string;
  html: string;
  /** Its sections of the second level. */
  sections: { id: string; title: string }[];
}

/** A searchable part of a guide: the text from a heading to the next one. */
export interface GuideText {
  /** The address of the page, with the anchor of the heading. */
  href: string;
  guide: string;
  /** The title of the section; before the first heading, that of the guide. */
  title: string;
  text: string;
}

export function guides(): Plugin {
  const prefix = '\0virtual:guide';
  return {
    name: 'almanac-guides',
    resolveId: (id) => (/^virtual:guide(?:s(?:-text)?$|\/)/.test(id) ? `\0${id}` : undefined),
    load(id) {
      if (id === `${prefix}s`) return listModule();
      if (id === `${prefix}s-text`)
        return `export const texts = ${JSON.stringify(all.flatMap((guide) => textsOf(guide, rendered(textOf(guide)))))};`;
      if (!id.startsWith(`${prefix}/`)) return undefined;
      const file = path.join(docsDirectory, `${id.slice(prefix.length + 1)}.md`);
      this.addWatchFile(file);
      return `export const guide = ${JSON.stringify(rendered(readFileSync(file, 'utf8')))};`;
    },
  };
}

/** @throws Error if a file of docs/ is in no group: it could not be found in the dashboard. */
function listModule(): string {
  const files = readdirSync(docsDirectory).filter((name) => name.endsWith('.md'));
  const missing = files.filter((name) => !all.includes(name.slice(0, -3)));
  if (missing.length > 0)
    throw new Error(`docs/${missing.join(', docs/')} must be in a group of dashboard/build/guides.ts.`);
  const shown = groups.map(({ title, guides }) => {
    const entries = Object.entries(guides).map(([id, summary]) => {
      const facts = JSON.stringify({ id, title: titleIn(textOf(id)), summary }).slice(1, -1);
      return `{ ${facts}, load: async () => (await import('virtual:guide/${id}')).guide }`;
    });
    return `{ title: ${JSON.stringify(title)}, guides: [${entries.join(', ')}] }`;
  });
  return `export const groups = [${shown.join(', ')}];`;
}

function textOf(guide: string): string {
  return readFileSync(path.join(docsDirectory, `${guide}.md`), 'utf8');
}

/** @throws Error if it does not exist. */
function titleIn(text: string): string {
  const title = /^# (.+)$/m.exec(text)?.[1];
  if (title === undefined) throw new Error('A guide begins with its title: # …');
  return title;
}

/** @throws Error if the file has no title. */
export function rendered(text: string): RenderedGuide {
  const title = titleIn(text);
  const sections: RenderedGuide['sections'] = [];
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text: source }: Tokens.Heading) {
        if (depth === 1) return ''; // the page shows the title itself
        const id = slugOf(source);
        const inner = this.parser.parseInline(tokens);
        if (depth === 2) sections.push({ id, title: source.replaceAll('`', '') });
        return `<h${depth} id="${id}"><a href="#${id}">${inner}</a></h${depth}>\n`;
      },
      link({ href, text: source, tokens }: Tokens.Link) {
        const target = targetOf(href);
        // A link whose text is the file name gets the title of the guide.
        const isNamedAsFile = target !== undefined && /^[a-z-]+\.md$/.test(source);
        const inner = isNamedAsFile
          ? htmlText(titleIn(textOf(source.slice(0, -3))))
          : this.parser.parseInline(tokens);
        return target === undefined ? inner : `<a href="${htmlText(target)}">${inner}</a>`;
      },
      code: ({ text: code }: Tokens.Code) => `<pre tabindex="0"><code>${htmlText(code)}</code></pre>\n`,
      // In the narrow columns of a phone, names may break between their words.
      codespan: ({ text: code }: Tokens.Codespan) =>
        `<code>${htmlText(code).replaceAll(/[_/](?=\w)/g, '$&<wbr>')}</code>`,
      table(token: Tokens.Table) {
        const cells = (row: Tokens.TableCell[], tag: string) =>
          row.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('');
        const body = token.rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n');
        const isNamed = token.header.some(({ text: title }) => title !== '');
        const head = isNamed ? `<thead><tr>${cells(token.header, 'th')}</tr></thead>` : '';
        return `<div class="scrollx" tabindex="0" role="group" aria-label="Table"><table>${head}<tbody>${body}</tbody></table></div>\n`;
      },
      // The project's own drawings are inlined, as the page loads nothing from other sites.
      image: ({ href, text: alt }: Tokens.Image) =>
        `<div class="drawing scrollx" role="group" tabindex="0" aria-label="${htmlText(alt)}">${readFileSync(path.join(docsDirectory, href), 'utf8')}</div>`,
      html: () => '',
    },
  });
  return { title, html: marked.parse(text, { async: false }), sections };
}

/** The parts of a guide, by its headings of the second to the fourth level. */
export function textsOf(guide: string, { title, html }: RenderedGuide): GuideText[] {
  const [before = '', ...parts] = html.split(/<h[2-4] id="/);
  const sections = parts.map((part) => {
    const [, id = '', heading = '', rest = ''] = /^([^"]*)">(.*?)<\/h[2-4]>(.*)$/s.exec(part) ?? [];
    return { href: `/docs/${guide}#${id}`, guide: title, title: plain(heading), text: plain(rest) };
  });
  return [{ href: `/docs/${guide}`, guide: title, title, text: plain(before) }, ...sections];
}

/** The text of HTML produced by `rendered`. */
function plain(html: string): string {
  const text = html.replaceAll('<wbr>', '').replaceAll(/<[^>]+>/g, ' ');
  const characters: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
  return text
    .replaceAll(/&(amp|lt|gt|quot|#39);/g, (_all, name: string) => characters[name] ?? '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** The page that a link of a guide leads to; undefined if its file is not a page. */
function targetOf(href: string): string | undefined {
  if (/^(?:https?:|#)/.test(href)) return href;
  const [, guide = '', section = ''] = /^(?:\.\/)?([a-z-]+)\.md(#.*)?$/.exec(href) ?? [];
  return all.includes(guide) ? `/docs/${guide}${section}` : undefined;
}

/** The anchor of a heading, as on GitHub, which shows the same files. */
export function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');
}
