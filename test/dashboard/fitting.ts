// Whether everything on a page fits: the page is no wider than its window, no table is wider than its place, no text is cut unless its title
// gives it in full, and no day or short time in a table, and no word of a fact's name, is broken into lines.
// Hides how that is measured.
import type { Page } from 'playwright-core';

/**
 * Runs in the page. A text is cut off if it is outside the window or outside an element that hides its overflow. Elements that scroll
 * cut nothing off, charts shorten their own labels, and visually hidden text (`vh`) is meant for screen readers.
 */
const measure = `(() => {
  const faults = [];
  const { scrollWidth } = document.documentElement;
  if (scrollWidth > innerWidth) faults.push('it is ' + scrollWidth + ' px wide in a window of ' + innerWidth + ' px');
  for (const table of document.querySelectorAll('table')) {
    if (!table.checkVisibility({ visibilityProperty: true })) continue;
    const { overflowX } = getComputedStyle(table.parentElement);
    if (overflowX === 'auto' || overflowX === 'scroll') continue;
    const over = table.getBoundingClientRect().right - table.parentElement.getBoundingClientRect().right;
    if (over > 2) faults.push('a table is ' + over.toFixed(0) + ' px wider than its place: ' + table.outerHTML.slice(0, 120));
  }
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
    const of = text.parentElement;
    if (text.data.trim() === '' || of.closest('svg, .vh, select, script, style, [hidden], .skip') !== null) continue;
    if (!of.checkVisibility({ visibilityProperty: true })) continue;
    if (of.matches('.dl dt'))
      for (const { 0: word, index } of text.data.matchAll(/\\S+/g)) {
        range.setStart(text, index);
        range.setEnd(text, index + word.length);
        if (range.getClientRects().length > 1) faults.push('the word "' + word + '" is broken into lines');
      }
    range.selectNodeContents(text);
    const { left, right, top, bottom, width } = range.getBoundingClientRect();
    if (width === 0) continue;
    let isTitled = false, cutBy = null; // a title gives the text in full
    for (let at = of; at !== null && cutBy === null; at = at.parentElement) {
      isTitled ||= at.title !== '';
      const { overflowX, overflowY, textOverflow } = getComputedStyle(at);
      if (isTitled || overflowX === 'auto' || overflowX === 'scroll') { isTitled = true; break; }
      if (overflowX !== 'hidden' && overflowX !== 'clip') continue;
      const box = at.getBoundingClientRect();
      if (box.height <= 1) { isTitled = true; break; } // for screen readers alone, as the heads of tables are on a phone
      if (right > box.right + 2 || left < box.left - 2 || bottom > box.bottom + 4 || top < box.top - 4)
        cutBy = at.tagName + '.' + at.className;
    }
    if (!isTitled && cutBy === null && (right > innerWidth + 1 || left < -1)) cutBy = 'the window';
    if (cutBy !== null) faults.push('"' + text.data.trim().slice(0, 60) + '" is cut by ' + cutBy + ' in ' + of.outerHTML.slice(0, 120));
  }
  for (const whole of document.querySelectorAll('td > time:not(.long)')) {
    if (!whole.checkVisibility({ visibilityProperty: true })) continue;
    if (whole.getClientRects().length > 1) faults.push('"' + whole.textContent + '" is broken into lines');
  }
  return faults;
})()`;

/** Texts that do not fit in the current page, each as a sentence. */
export async function layoutFaultsOf(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(measure);
}
