// Text as bytes in the encodings of offices. The tables are those of the decoders of the platform, turned around; IBM's two are written out.

/** From 0x80 on. */
const ibm: Readonly<Record<string, string>> = {
  cp437:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐' +
    '└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
  cp850:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐' +
    '└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0',
};

const doubleByte = new Set(['shift_jis', 'euc-jp', 'euc-kr', 'gb18030', 'big5']);
const tables = new Map<string, ReadonlyMap<string, readonly number[]>>();

function tableOf(encoding: string): ReadonlyMap<string, readonly number[]> {
  const known = tables.get(encoding);
  if (known !== undefined) return known;
  const table = new Map<string, readonly number[]>();
  const upper = ibm[encoding];
  if (upper !== undefined) for (const [at, sign] of Array.from(upper).entries()) table.set(sign, [0x80 + at]);
  else invert(encoding, table);
  for (let code = 0; code < 0x80; code++) table.set(String.fromCodePoint(code), [code]);
  tables.set(encoding, table);
  return table;
}

function invert(encoding: string, table: Map<string, readonly number[]>): void {
  const decoder = new TextDecoder(encoding);
  const add = (bytes: readonly number[]) => {
    const text = decoder.decode(Uint8Array.from(bytes));
    if (Array.from(text).length === 1 && text !== '\ufffd' && !table.has(text)) table.set(text, bytes);
  };
  for (let byte = 0x80; byte <= 0xff; byte++) add([byte]);
  if (!doubleByte.has(encoding)) return;
  for (let lead = 0x81; lead <= 0xfe; lead++)
    for (let trail = 0x40; trail <= 0xfe; trail++) if (trail !== 0x7f) add([lead, trail]);
}

/** @returns null if the encoding lacks a sign of the text. */
export function encoded(text: string, encoding: string): Buffer | null {
  if (encoding === 'utf-8') return Buffer.from(text);
  if (encoding === 'utf-8 with BOM') return Buffer.from(`\ufeff${text}`);
  if (encoding === 'utf-8 with two BOMs') return Buffer.from(`\ufeff\ufeff${text}`);
  if (encoding === 'utf-16le') return Buffer.from(text, 'utf16le');
  if (encoding === 'utf-16le with BOM') return Buffer.from(`\ufeff${text}`, 'utf16le');
  if (encoding === 'utf-16be with BOM') return Buffer.from(`\ufeff${text}`, 'utf16le').swap16();
  const table = tableOf(encoding);
  const bytes: number[] = [];
  for (const sign of text) {
    const own = table.get(sign);
    if (own === undefined) return null;
    bytes.push(...own);
  }
  return Buffer.from(bytes);
}

const western = ['windows-1252', 'windows-1252', 'iso-8859-15', 'macintosh', 'cp850', 'cp437'];
const central = ['windows-1250', 'iso-8859-2'];
const baltic = ['windows-1257', 'iso-8859-13'];
const cyrillic = ['windows-1251', 'koi8-r', 'iso-8859-5', 'ibm866', 'x-mac-cyrillic'];
const turkish = ['windows-1254'];

/** The encodings of a language, besides Unicode. */
export const legacyEncodings: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries('de fr es it pt nl sv da nb fi'.split(' ').map((language) => [language, western])),
  ...Object.fromEntries('pl cs sk sl hr hu ro'.split(' ').map((language) => [language, central])),
  ...Object.fromEntries('et lv lt'.split(' ').map((language) => [language, baltic])),
  ...{ ru: cyrillic, bg: cyrillic, tr: turkish, el: ['windows-1253', 'iso-8859-7'] },
  ...{ ja: ['shift_jis', 'euc-jp'], zh: ['gb18030'], tw: ['big5'], ko: ['euc-kr'] },
};

export const unicode: readonly string[] = [
  ...Array.from({ length: 14 }, () => 'utf-8'),
  ...Array.from({ length: 5 }, () => 'utf-8 with BOM'),
  ...['utf-16le with BOM', 'utf-16be with BOM', 'utf-16le', 'utf-8 with two BOMs'],
];
