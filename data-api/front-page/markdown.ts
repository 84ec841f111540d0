// Renders the operator's Markdown as safe HTML: no raw HTML, no images, links only to the web, mailboxes and pages of this site.
import { Marked, type Tokens } from 'marked';
import { htmlText } from '../../kernel/text/html.ts';

const marked = new Marked({
  renderer: {
    html: () => '',
    image: ({ text }: Tokens.Image) => htmlText(text),
    // The page has one heading of the first level, and its sections have those of the second.
    heading({ tokens }: Tokens.Heading) {
      return `<p><strong>${this.parser.parseInline(tokens)}</strong></p>\n`;
    },
    link({ href, tokens }: Tokens.Link) {
      const inner = this.parser.parseInline(tokens);
      return isLink(href) ? `<a href="${htmlText(href)}">${inner}</a>` : inner;
    },
    code: ({ text }: Tokens.Code) => `<pre><code>${htmlText(text)}</code></pre>\n`,
    codespan: ({ text }: Tokens.Codespan) => `<code>${htmlText(text)}</code>`,
    checkbox: () => '',
  },
});

/** The HTML of a text. Raw HTML is dropped, an image becomes its description, and an unsafe link becomes its text. */
export function htmlOf(markdown: string): string {
  return marked.parse(markdown, { async: false }).trim();
}

/** Whether a link leads to the web, to a mailbox, or to a page of this site. */
function isLink(href: string): boolean {
  if (/^\/(?![/\\])/.test(href)) return true;
  const url = URL.parse(href);
  return (
    url !== null && /^(?:https?|mailto):$/.test(url.protocol) && url.username === '' && url.password === ''
  );
}
