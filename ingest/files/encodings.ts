// The encodings of text files: which of them reads a file as text of some language, and the decoders for all of them.
import { isUtf8 } from 'node:buffer';
import { analyse } from 'chardet';
import iconv from 'iconv-lite';
import { misuse } from '../load/failure.ts';

export interface EncodingFound {
  /** For `encoding` of almanac.yml. */
  name: string;
  isSure: boolean;
  /** What the text is by this encoding, and by the next likely. */
  evidence: string;
  /** If it is not sure: the encodings by which the text reads differently, the likeliest first, each with words of the text. */
  candidates: EncodingCandidate[];
}

export interface EncodingCandidate {
  name: string;
  words: string;
}

/** Turns bytes into text, piece by piece. */
export interface Decoder {
  write(piece: Buffer): string;
  end(): string;
}

/** Those that Node's own decoder lacks. */
const byLibrary = new Set(['cp437', 'cp850', 'cp852', 'cp857', 'cp858', 'cp862', 'cp865']);

/**
 * Encodings of one byte a letter that are tried, with the languages whose texts they were made for, and how much rarer the files are than those
 * of windows-1252: among encodings that explain a text alike, the most common one is taken.
 */
const singleByte: readonly [name: string, languages: readonly string[], rarity: number][] = [
  ['windows-1252', ['de', 'fr', 'es', 'pt', 'it', 'nl', 'sv', 'da', 'fi', 'ca', 'et'], 0],
  ['windows-1252', ['is'], 0.06],
  ['windows-1250', ['pl', 'cs', 'hu', 'hr', 'sl', 'ro', 'sk'], 0.02],
  ['windows-1251', ['ru', 'uk', 'bg', 'sr'], 0],
  ['windows-1254', ['tr'], 0.03],
  ['windows-1253', ['el'], 0.02],
  ['windows-1257', ['lt', 'lv', 'et'], 0.04],
  ['windows-1255', ['he'], 0.02],
  ['windows-1256', ['ar'], 0.02],
  ['iso-8859-2', ['pl', 'cs', 'hu', 'hr', 'sl', 'ro', 'sk'], 0.05],
  ['koi8-r', ['ru'], 0.05],
  ['iso-8859-5', ['ru', 'bg', 'sr'], 0.08],
  ['ibm866', ['ru', 'bg'], 0.06],
  ['x-mac-cyrillic', ['ru', 'uk', 'bg', 'sr'], 0.08],
  ['cp850', ['de', 'fr', 'es', 'pt', 'it', 'nl', 'sv', 'da', 'fi'], 0.06],
  ['cp852', ['pl', 'cs', 'hu', 'hr', 'sl', 'ro', 'sk'], 0.07],
  ['cp857', ['tr'], 0.09],
  ['macintosh', ['de', 'fr', 'es', 'pt', 'it', 'nl', 'sv', 'da', 'fi'], 0.07],
  ['cp437', ['de', 'fr', 'es', 'sv', 'fi'], 0.08],
];

/** The letters beside a to z of each language, in small letters. */
const lettersOf: Readonly<Record<string, string>> = {
  de: 'äöüß', fr: 'àâæçéèêëîïôœùûüÿ', es: 'áéíñóúü', pt: 'áâãàçéêíóôõúü', it: 'àèéìíòóù', nl: 'éëïóöüèáí', sv: 'åäöé', da: 'æøåé', fi: 'äöå',
  is: 'áðéíóúýþæö', ca: 'àçéèíïóòúü', et: 'äõöüšž', pl: 'ąćęłńóśźż', cs: 'áčďéěíňóřšťúůýž', hu: 'áéíóöőúüű', hr: 'čćđšž', sl: 'čšž', ro: 'ăâîșşțţ',
  sk: 'áäčďéíĺľňóôŕšťúýž', tr: 'çğıİöşüâîû', lt: 'ąčęėįšųūž', lv: 'āčēģīķļņšūž', ru: 'абвгдеёжзийклмнопрстуфхцчшщъыьэюя', uk: 'абвгґдеєжзиіїйклмнопрстуфхцчшщьюя',
  bg: 'абвгдежзийклмнопрстуфхцчшщъьюя', sr: 'абвгдђежзијклљмнњопрстћуфхцчџш', el: 'αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ',
  he: 'אבגדהוזחטיךכלםמןנסעףפץצקרשת', ar: 'ءآأؤإئابةتثجحخدذرزسشصضطظعغفقكلمنهوىي',
}; // prettier-ignore

/** Signs beside letters that tables of all languages have. */
// oxlint-disable-next-line no-control-regex -- all of ASCII
const commonSigns = /[\s\u0000-\u007f\u00a0€£¥§°±²³¹·«»“”„‘’‚–—…•©®™µ½¼¾×%ºª]/u;

/** Encodings of several bytes a letter: the letters of their language, and those that tables of statistics have most. */
const multiByte: readonly [name: string, script: RegExp, frequent: string][] = [
  ['gb18030', /\p{Script=Han}/u, '年月日期地区数指标全国省市人口男女合计总值生产内业工农居民消费价格比上增长率万元亿单位北京海天津广东江苏浙山河南湖西安重庆四川收入支出就行食品住房贷款利进口额货币'],
  ['big5', /\p{Script=Han}/u, '年月日期地區數指標全國省市縣人口男女合計總值生產內業工農居民消費者物價格比上增長率萬元億單位臺北高雄中南新收入支出就食品住房貸款利進口額貨幣'],
  ['shift_jis', /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u, '年月日期地域数指標全国都道府県市区町村人口男女合計総値生産業工農消費者物価格比前増減率万円億単位東京大阪北海神奈川愛知福岡収入支出就食品住居貸金利輸出額貨'],
  ['euc-jp', /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u, '年月日期地域数指標全国都道府県市区町村人口男女合計総値生産業工農消費者物価格比前増減率万円億単位東京大阪北海神奈川愛知福岡収入支出就食品住居貸金利輸出額貨'],
  ['euc-kr', /\p{Script=Hangul}/u, '년월일기간지역수지표전국시도군구인구남여합계총생산업농소비자물가격비상증감율만원억단위서울부산대인천광주경기강충청전라북제수입지출취식품주거'],
]; // prettier-ignore

const detectedBytes = 64 * 1024;

/**
 * The encoding of a text, by its byte order mark, its nulls, whether it is UTF-8, and else by the letters that each encoding makes of its bytes.
 * @param start its first bytes; those of UTF-8 may end within a character.
 */
export function detectEncoding(start: Buffer): EncodingFound {
  const sure = (name: string, evidence: string): EncodingFound => ({
    ...{ name, isSure: true, evidence, candidates: [] },
  });
  if (start[0] === 0xff && start[1] === 0xfe) return sure('utf-16le', 'its byte order mark');
  if (start[0] === 0xfe && start[1] === 0xff) return sure('utf-16be', 'its byte order mark');
  if (start[0] === 0xef && start[1] === 0xbb && start[2] === 0xbf)
    return sure('utf-8', 'its byte order mark');
  const wide = utf16Of(start);
  if (wide !== null) return sure(wide, 'every other byte is null');
  if (isUtf8(start.subarray(0, completeCharacters(start)))) return sure('utf-8', 'it is valid UTF-8');
  return byLetters(start.subarray(0, detectedBytes));
}

/** Text of UTF-16 without a mark has a null in every other byte of its digits and delimiters. */
function utf16Of(start: Buffer): string | null {
  const pairs = Math.min(2_000, Math.floor(start.length / 2));
  let [even, odd] = [0, 0];
  for (let at = 0; at < pairs * 2; at += 2) {
    if (start[at] === 0) even++;
    if (start[at + 1] === 0) odd++;
  }
  if (pairs < 4 || Math.max(even, odd) * 3 < pairs * 2) return null;
  return odd > even ? 'utf-16le' : 'utf-16be';
}

/** How much less likely than the best a candidate may be, and how many there are. */
const [candidatesWithin, candidatesMax] = [0.6, 5];

interface Reading {
  name: string;
  score: number;
  text: string;
}

function byLetters(start: Buffer): EncodingFound {
  // The lines without such bytes say nothing; the end may lie within a character.
  const bytes = telling(start);
  const known = new Map(analyse(bytes).map(({ name, confidence }) => [name.toLowerCase(), confidence]));
  const readings = [
    ...multiByte.map((each) => multiByteReading(bytes, each, known.get(each[0]) ?? 0)),
    ...singleByte.map((each) => singleByteReading(bytes, each, known.get(each[0]) ?? 0)),
  ]
    .filter((reading) => reading !== null)
    .toSorted((a, b) => b.score - a.score);
  const [best = { name: 'windows-1252', score: 0, text: '' }] = readings;
  const rival = readings.find((reading) => reading.text !== best.text);
  const isSure = best.score > 0.9 && (rival === undefined || rival.score < best.score - 0.15);
  const example = (text: string) =>
    [...text.matchAll(/\S*\P{ASCII}\S*/gu)]
      .slice(0, 3)
      .map(([word]) => word.slice(0, 30))
      .join(' ');
  const differing = readings.filter(
    (reading, at) =>
      reading.score > best.score - candidatesWithin &&
      !readings.slice(0, at).some((other) => example(other.text) === example(reading.text)),
  );
  return {
    name: best.name,
    isSure,
    candidates: isSure
      ? []
      : differing.slice(0, candidatesMax).map(({ name, text }) => ({ name, words: example(text) })),
    evidence: `it is not UTF-8; "${example(best.text)}" in ${best.name}${isSure || rival === undefined ? '' : `, or "${example(rival.text)}" in ${rival.name}`}`,
  };
}

/** The lines that have a byte beyond ASCII. */
function telling(start: Buffer): Buffer {
  const lines: Buffer[] = [];
  let from = 0;
  let size = 0;
  while (from < start.length && size < 16_384) {
    const found = start.indexOf(0x0a, from);
    const end = found < 0 ? start.length : found + 1;
    const line = start.subarray(from, end);
    if (line.some((byte) => byte > 0x7f)) {
      lines.push(line);
      size += line.length;
    }
    from = end;
  }
  return Buffer.concat(lines);
}

/** How much of the text a language explains: its letters, each in words of one script, with capitals only where words begin. */
function singleByteReading(
  bytes: Buffer,
  [name, spoken, rarity]: (typeof singleByte)[number],
  confidence: number,
): Reading | null {
  const decoder = decoderOf(name);
  const text = decoder.write(bytes) + decoder.end();
  if (/[\u0080-\u009f\ufffd]/.test(text)) return null;
  const foreign = Array.from(text).filter(
    (letter) => letter > '\u007f' && !/[\u00a0\u2018\u2019\u201c\u201d\u2013\u2014€]/u.test(letter),
  );
  // Nothing but blanks, quotes and dashes, as between the groups of numbers.
  if (foreign.length === 0) return { name, score: 1 - rarity, text };
  const isOdd = oddLetters(text);
  const best = Math.max(
    ...spoken.map((language) => {
      const letters = new Set(Array.from(lettersOf[language] ?? ''));
      const fits = (letter: string) => letters.has(letter) || letters.has(letter.toLowerCase());
      const explained = foreign.filter(
        (letter) => fits(letter) || (commonSigns.test(letter) && !/\p{L}/u.test(letter)),
      ).length;
      const spokenShare = foreign.filter(fits).length / foreign.length;
      return explained / foreign.length + spokenShare * 0.1;
    }),
  );
  return { name, score: best - isOdd / foreign.length - rarity + confidence / 10_000, text };
}

/** Capitals within words, signs within words, and words of two scripts. */
function oddLetters(text: string): number {
  let odd = 0;
  for (const [word] of text.matchAll(/[\p{L}\p{N}\u0080-\uffff]+/gu)) {
    if (!/\P{ASCII}/u.test(word)) continue;
    odd += word.match(/(?<=\p{Ll})\p{Lu}|(?<=\p{L})(?![A-Z])\p{Lu}(?=\p{Ll})/gu)?.length ?? 0;
    if (/^\P{Ll}{2,}$/u.test(word)) odd += 0.2 * word.length;
    odd += word.match(/(?<=\p{L})[^\p{L}\p{N}\p{M}'’.\-–](?=\p{L})/gu)?.length ?? 0;
    odd += word.match(/^[^\p{L}\p{N}](?=\p{L})/gu)?.length ?? 0;
    odd += word.match(/(?<=\d)(?=\P{ASCII})\p{L}(?=\d)/gu)?.length ?? 0;
    const scripts = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u].filter((script) =>
      script.test(word),
    ).length;
    if (scripts > 1) odd += word.length;
  }
  return odd;
}

/** How much of the text is letters of the language beside no Latin ones, and how many of them tables often have. */
function multiByteReading(
  bytes: Buffer,
  [name, script, frequent]: (typeof multiByte)[number],
  confidence: number,
): Reading | null {
  const decoder = decoderOf(name);
  const text = decoder.write(bytes) + decoder.end();
  const foreign = Array.from(text).filter((letter) => letter > '\u007f');
  if (foreign.length === 0) return null;
  const broken = foreign.filter((letter) =>
    /[\ufffd\ue000-\uf8ff\uff61-\uff9f\u0080-\u00ff]/u.test(letter),
  ).length;
  if (broken > 1 && broken * 50 > foreign.length) return null;
  const fitting = foreign.filter(
    (letter) => script.test(letter) || /[\u3000-\u303f\uff00-\uff60ー・]/u.test(letter),
  ).length;
  const known = foreign.filter((letter) => frequent.includes(letter)).length;
  const beside = text.match(/(?<=[a-z])[\u0300-\uffff]|[\u0300-\uffff](?=[a-z])/gu)?.length ?? 0;
  const score = (fitting - beside) / foreign.length + Math.min(0.3, known / foreign.length) - 0.2;
  return { name, score: score + confidence / 1_000, text };
}

/** The end of the last complete UTF-8 character of the bytes. */
export function completeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes.readUInt8(bytes.length - back);
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return back < length ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** @throws IngestFailure if the encoding is not known. */
export function decoderOf(name: string): Decoder {
  const label = name.toLowerCase();
  if (byLibrary.has(label)) {
    const decoder = iconv.getDecoder(label);
    return { write: (piece) => decoder.write(piece), end: () => decoder.end() ?? '' };
  }
  const decoder = new TextDecoder(knownEncoding(name));
  return { write: (piece) => decoder.decode(piece, { stream: true }), end: () => decoder.decode() };
}

/** The encoding by its usual name. @throws IngestFailure if it is not known. */
export function knownEncoding(name: string): string {
  if (byLibrary.has(name.toLowerCase())) return name.toLowerCase();
  try {
    return new TextDecoder(name).encoding;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return misuse(
      `The encoding ${name} is not known. Allowed are utf-8, utf-16le, utf-16be, windows-1250 to 1258, iso-8859-1 to 16, koi8-r, macintosh, shift_jis, euc-jp, euc-kr, gb18030, big5, ${[...byLibrary].join(', ')}.`,
    );
  }
}
