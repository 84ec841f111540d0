import test from 'ava';
import { htmlOf } from './markdown.ts';

test('words, lists, code and links to the web become HTML', (t) => {
  t.is(
    htmlOf('Prices **and** output, see [the terms](https://example.org/a?b=1&c=2).'),
    '<p>Prices <strong>and</strong> output, see <a href="https://example.org/a?b=1&amp;c=2">the terms</a>.</p>',
  );
  t.is(htmlOf('[Catalogue](/catalogue)'), '<p><a href="/catalogue">Catalogue</a></p>');
  t.is(htmlOf('[Mail](mailto:data@example.org)'), '<p><a href="mailto:data@example.org">Mail</a></p>');
  t.regex(htmlOf('- one\n- two'), /<ul>\s*<li>one<\/li>\s*<li>two<\/li>\s*<\/ul>/);
  t.is(htmlOf('`a<b`'), '<p><code>a&lt;b</code></p>');
});

test('a heading becomes a bold line, as the page has its own headings', (t) => {
  t.is(htmlOf('# Title\n## Part'), '<p><strong>Title</strong></p>\n<p><strong>Part</strong></p>');
});

test('nothing of a text can become a tag, an attribute or a script of the page', (t) => {
  for (const text of [
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    'a <b onclick="x">b</b> c',
    '![x](https://example.org/pixel.png)',
    '![x" onerror="alert(1)](y)',
    '[x](javascript:alert(1))',
    '[x](JaVaScRiPt:alert(1))',
    '[x](&#106;avascript:alert(1))',
    '[x](java\nscript:alert(1))',
    '[x](data:text/html,<script>1</script>)',
    '[x](vbscript:1)',
    '[x](//evil.example)',
    '[x](/\\evil.example)',
    '[x](https://user:pass@evil.example)',
    '[x](https://e.example/" onmouseover="alert(1))',
    '[x](<https://e.example/" onmouseover="alert(1)>)',
    '<https://e.example/"onmouseover="alert(1)>',
    '```html" onload="x\n<script>1</script>\n```',
    '| a<script> |\n|---|\n| <iframe src=x> |',
    '[ref]: javascript:alert(1)\n\n[ref]',
    '- [ ] <input autofocus onfocus=alert(1)>',
    '<!-- --><svg/onload=alert(1)>',
  ]) {
    const html = htmlOf(text);
    const tags = [...html.matchAll(/<[^>]*>/g)].map(([tag]) => tag);
    for (const tag of tags)
      t.regex(
        tag,
        /^<(?:\/?(?:p|strong|em|del|ul|ol|li|code|pre|table|thead|tbody|tr|th|td|blockquote|a)|a href="(?:https?:\/\/[^"<>]*|mailto:[^"<>]*|\/(?![/\\])[^"<>]*)")>$/,
        text,
      );
    t.notRegex(html, /href="(?!https?:|mailto:|\/[^/\\])|user:pass/i, text);
  }
});
