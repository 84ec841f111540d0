// The encodings of text files: detects the one in which a file is text of some language, and provides the decoders.
import { isUtf8 } from 'node:buffer';
import { analyse } from 'chardet';
import iconv from 'iconv-lite';
import { IngestFailure, usageError } from '../failure.ts';
import { isDateWord } from '../cells/dates/date-column-titles.ts';
import { monthNamed } from '../cells/dates/month-names.ts';

export interface EncodingFound {
  /** For `encoding` of almanac.yml. */
  name: string;
  isSure: boolean;
  /** The text in this encoding, and in the next likely one. */
  evidence: string;
  /** If uncertain: the encodings that read the text differently, the likeliest first, each with words of the text. */
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
 * The single-byte encodings that are tried, with the languages whose texts they were made for, how much rarer the files are than those of
 * windows-1252 (among encodings that explain a text alike, the most common one wins), and words of one of the languages for the docs.
 */
const singleByte: readonly [
  name: string,
  languages: readonly string[],
  rarity: number,
  example: string,
][] = [
  ['windows-1252', ['de', 'fr', 'es', 'pt', 'it', 'nl', 'sv', 'da', 'fi', 'ca', 'et'], 0, 'Mois Région Île-de-France Rhône'],
  ['windows-1252', ['is'], 0.06, 'Mánuður Þjóðskrá Reykjavík'],
  ['iso-8859-15', ['de', 'fr', 'es', 'pt', 'it', 'nl', 'sv', 'da', 'fi', 'ca', 'et'], 0.05, 'Année Sœur Œuvres'],
  ['windows-1250', ['pl', 'cs', 'hu', 'hr', 'sl', 'ro', 'sk'], 0.02, 'Miesiąc Łódź Śląsk'],
  ['windows-1251', ['ru', 'uk', 'bg', 'sr'], 0, 'Месяц Москва Казань'],
  ['windows-1254', ['tr'], 0.03, 'Yıl Muğla İstanbul'],
  ['windows-1253', ['el'], 0.02, 'Μήνας Αθήνα Θεσσαλονίκη'],
  ['windows-1257', ['lt', 'lv', 'et'], 0.04, 'Metai Šiauliai Panevėžys'],
  ['windows-1255', ['he'], 0.02, 'חודש ירושלים חיפה'],
  ['windows-1256', ['ar'], 0.02, 'الشهر القاهرة الرياض'],
  ['iso-8859-2', ['pl', 'cs', 'hu', 'hr', 'sl', 'ro', 'sk'], 0.05, 'Miesiąc Łódź Śląsk'],
  ['koi8-r', ['ru'], 0.05, 'Месяц Москва Казань'],
  ['iso-8859-5', ['ru', 'bg', 'sr'], 0.08, 'Месяц Москва Казань'],
  ['ibm866', ['ru', 'bg'], 0.06, 'Месяц Москва Казань'],
  ['x-mac-cyrillic', ['ru', 'uk', 'bg', 'sr'], 0.08, 'Месяц Москва Казань'],
  ['cp850', ['de', 'fr', 'es', 'pt', 'it', 'nl', 'sv', 'da', 'fi'], 0.06, 'Mois Région Rhône'],
  ['cp852', ['pl', 'cs', 'hu', 'hr', 'sl', 'ro', 'sk'], 0.07, 'Miesiąc Łódź Śląsk'],
  ['cp857', ['tr'], 0.09, 'Yıl Muğla İstanbul'],
  ['macintosh', ['de', 'fr', 'es', 'pt', 'it', 'nl', 'sv', 'da', 'fi'], 0.07, 'Mois Région Rhône'],
  ['cp437', ['de', 'fr', 'es', 'sv', 'fi'], 0.08, 'Jahr Köln München Düsseldorf'],
]; // prettier-ignore

/** The lowercase letters of each language other than a to z. */
const lettersOf: Readonly<Record<string, string>> = {
  de: 'äöüß', fr: 'àâæçéèêëîïôœùûüÿ', es: 'áéíñóúüºª', pt: 'áâãàçéêíóôõúüºª', it: 'àèéìíòóùºª', nl: 'éëïóöüèáí', sv: 'åäöé', da: 'æøåé', fi: 'äöå',
  is: 'áðéíóúýþæö', ca: 'àçéèíïóòúü', et: 'äõöüšž', pl: 'ąćęłńóśźż', cs: 'áčďéěíňóřšťúůýž', hu: 'áéíóöőúüű', hr: 'čćđšž', sl: 'čšž', ro: 'ăâîșşțţ',
  sk: 'áäčďéíľňóôšťúýž', tr: 'çğıİöşüâîû', lt: 'ąčęėįšųūž', lv: 'āčēģīķļņšūž', ru: 'абвгдеёжзийклмнопрстуфхцчшщъыьэюя', uk: 'абвгґдеєжзиіїйклмнопрстуфхцчшщьюя',
  bg: 'абвгдежзийклмнопрстуфхцчшщъьюя', sr: 'абвгдђежзијклљмнњопрстћуфхцчџш', el: 'αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ',
  he: 'אבגדהוזחטיךכלםמןנסעףפץצקרשת', ar: 'ءآأؤإئابةتثجحخدذرزسشصضطظعغفقكلمنهوىي',
}; // prettier-ignore

/** Characters other than letters that occur in tables of every language. */
// oxlint-disable-next-line no-control-regex -- all of ASCII
const commonSigns = /[\s\u0000-\u007f\u00a0€£¥§°±²³¹·«»“”„‘’‚–—…•©®™µ½¼¾×%ºª]/u;

/** Encodings with several bytes per letter: the letters of their language, those most common in statistical tables, and words for the docs. */
const multiByte: readonly [
  name: string,
  script: RegExp,
  frequent: string,
  language: string,
  example: string,
][] = [
  ['gb18030', /\p{Script=Han}/u, '年月日期地区数指标全国省市人口男女合计总值生产内业工农居民消费价格比上增长率万元亿单位北京海天津广东江苏浙山河南湖西安重庆四川收入支出就行食品住房贷款利进口额货币', 'zh-Hans', '月份 地区 北京 上海'],
  ['big5', /\p{Script=Han}/u, '年月日期地區數指標全國省市縣人口男女合計總值生產內業工農居民消費者物價格比上增長率萬元億單位臺北高雄中南新收入支出就食品住房貸款利進口額貨幣', 'zh-Hant', '月 地區 臺北 高雄'],
  ['shift_jis', /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u, '年月日期地域数指標全国都道府県市区町村人口男女合計総値生産業工農消費者物価格比前増減率万円億単位東京大阪北海神奈川愛知福岡収入支出就食品住居貸金利輸出額貨', 'ja', '年月 地域 東京 大阪'],
  ['euc-jp', /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u, '年月日期地域数指標全国都道府県市区町村人口男女合計総値生産業工農消費者物価格比前増減率万円億単位東京大阪北海神奈川愛知福岡収入支出就食品住居貸金利輸出額貨', 'ja', '年月 地域 消費者物価指数 総合'],
  ['euc-kr', /\p{Script=Hangul}/u, '년월일기간지역수지표전국시도군구인구남여합계총생산업농소비자물가격비상증감율만원억단위서울부산대인천광주경기강충청전라북제수입지출취식품주거', 'ko', '연도 지역 서울 부산'],
]; // prettier-ignore

const detectedBytes = 64 * 1024;

/** The encodings that are detected by letters, with the languages whose texts they were made for, and words of one of them. */
export const detectedByLetters: readonly { name: string; languages: readonly string[]; example: string }[] = [
  ...singleByte.map(([name, languages, , example]) => ({ name, languages, example })),
  ...multiByte.map(([name, , , language, example]) => ({ name, languages: [language], example })),
];

/**
 * The encoding of a text, by its byte order mark, its nulls, whether it is UTF-8, and otherwise by the letters that each encoding makes of its bytes.
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

/**
 * The encoding that a web page declares in its head. Null if it declares no known encoding, or if its bytes are not valid in it.
 * @param start its first bytes.
 */
export function declaredEncoding(start: Buffer): EncodingFound | null {
  const [text = '', label = ''] =
    /<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w.:-]{2,40})/i.exec(
      start.subarray(0, 4096).toString('latin1'),
    ) ?? [];
  if (label === '' || !isKnown(label)) return null;
  const decoder = decoderOf(label);
  if (decoder.write(start.subarray(0, completeCharacters(start))).includes('\ufffd')) return null;
  return { name: knownEncoding(label), isSure: true, evidence: `the page says so: ${text}`, candidates: [] };
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

/** How much less likely than the best a candidate may be, and the most candidates. */
const [candidatesWithin, candidatesMax] = [0.6, 5];

interface Reading {
  name: string;
  score: number;
  text: string;
}

function byLetters(start: Buffer): EncodingFound {
  // Lines of ASCII are no evidence.
  const bytes = nonAsciiLines(start);
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
    [...text.matchAll(/[^\s<>"',;|]*\P{ASCII}[^\s<>"',;|]*/gu)]
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
function nonAsciiLines(start: Buffer): Buffer {
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

/** Signs that appear next to numbers in files of every language of their encoding. */
const currencyWords = /(?<!\p{L})(?:zł|Kč|руб|лв)(?!\p{L})/gu;

/** In Italian only the last letter of a word has an accent. */
const accentWithin = /[àèéìíòóù](?=\p{L})/giu;

/** How well a language explains the text: by its letters, by words in a single script, and by capitals only at the beginning of words. */
function singleByteReading(
  bytes: Buffer,
  [name, languages, rarity]: (typeof singleByte)[number],
  confidence: number,
): Reading | null {
  const decoder = decoderOf(name);
  const whole = decoder.write(bytes) + decoder.end();
  const text = whole.replaceAll(currencyWords, '');
  if (/[\u0080-\u009f\ufffd]/.test(text)) return null;
  const foreign = Array.from(text).filter(
    (letter) => letter > '\u007f' && !/[\u00a0\u2018\u2019\u201c\u201d\u2013\u2014€]/u.test(letter),
  );
  // Only spaces, quotes and dashes, as between groups of numbers.
  if (foreign.length === 0) return { name, score: 1 - rarity + (text === whole ? 0 : 0.1), text: whole };
  const isOdd = oddLetters(text);
  const best = Math.max(
    ...languages.map((language) => {
      const letters = new Set(Array.from(lettersOf[language] ?? ''));
      const fits = (letter: string) => letters.has(letter) || letters.has(letter.toLowerCase());
      const explained = foreign.filter(
        (letter) => fits(letter) || (commonSigns.test(letter) && !/\p{L}/u.test(letter)),
      ).length;
      const inAlphabet = foreign.filter(fits).length;
      const misplaced = language === 'it' ? (text.match(accentWithin)?.length ?? 0) : 0;
      return (explained - misplaced + inAlphabet * 0.1) / foreign.length;
    }),
  );
  const known = Math.min(0.8, knownWords(text, languages) * 0.04);
  return { name, score: best + known - isOdd / foreign.length - rarity + confidence / 10_000, text: whole };
}

/** How many words with a letter beyond ASCII are months of one of the languages, or titles of columns of dates. */
function knownWords(text: string, languages: readonly string[]): number {
  const words = new Set([...text.matchAll(/[\p{L}\p{M}]{3,}/gu)].map(([word]) => word));
  return [...words]
    .filter((word) => /\P{ASCII}/u.test(word))
    .slice(0, 300)
    .filter((word) => isDateWord(word) || languages.some((language) => monthNamed(word, language) !== null))
    .length;
}

const scriptsOfWords = ['Latin', 'Cyrillic', 'Greek', 'Arabic', 'Hebrew'].map(
  (script) => new RegExp(`\\p{Script=${script}}`, 'u'),
);

/** Capitals within words, signs within words, and words of two scripts. */
function oddLetters(text: string): number {
  let odd = 0;
  for (const [word] of text.matchAll(/[\p{L}\p{N}\u0080-\uffff]+/gu)) {
    if (!/\P{ASCII}/u.test(word)) continue;
    odd += word.match(/(?<=\p{Ll})\p{Lu}|(?<=\p{L})(?![A-Z])\p{Lu}(?=\p{Ll})/gu)?.length ?? 0;
    if (/^\P{Ll}*\p{Lu}\P{Ll}*$/u.test(word) && word.length > 1) odd += 0.2 * word.length;
    odd += word.match(/(?<=\p{L})[^\p{L}\p{N}\p{M}'’.\-–](?=\p{L})/gu)?.length ?? 0;
    odd += word.match(/^[^\p{L}\p{N}](?=\p{L})/gu)?.length ?? 0;
    odd += word.match(/(?<!\p{L})(?=\P{ASCII})\p{L}(?=\d)|(?<=\d)(?=\P{ASCII})(?![ºª])\p{L}/gu)?.length ?? 0;
    const scripts = scriptsOfWords.filter((script) => script.test(word)).length;
    if (scripts > 1) odd += word.length;
  }
  return odd;
}

/** How much of the text is non-Latin letters of the language, and how many of them are common in tables. */
function multiByteReading(
  bytes: Buffer,
  [name, script, frequent]: (typeof multiByte)[number],
  confidence: number,
): Reading | null {
  const decoder = decoderOf(name);
  const text = decoder.write(bytes) + decoder.end();
  // Dashes, spaces and currencies beside numbers belong to no script.
  const foreign = Array.from(text).filter(
    (letter) => letter > '\u007f' && !/[\p{P}\p{Sc}\p{Zs}]/u.test(letter),
  );
  if (foreign.length === 0) return null;
  const broken = foreign.filter((letter) =>
    /[\ufffd\ue000-\uf8ff\uff61-\uff9f\u0080-\u00ff]/u.test(letter),
  ).length;
  // The bytes may end within a character, so one broken character is allowed.
  if (broken > 1 && broken * 50 > foreign.length) return null;
  const fitting = foreign.filter(
    (letter) => script.test(letter) || /[\u3000-\u303f\uff00-\uff60ー・]/u.test(letter),
  ).length;
  const known = foreign.filter((letter) => frequent.includes(letter)).length;
  const nextToAscii = text.match(/(?<=[a-z])[\u0300-\uffff]|[\u0300-\uffff](?=[a-z])/gu)?.length ?? 0;
  const score = (fitting - nextToAscii) / foreign.length + Math.min(0.3, known / foreign.length) - 0.2;
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

function isKnown(name: string): boolean {
  try {
    return knownEncoding(name) !== '';
  } catch (error) {
    if (error instanceof IngestFailure) return false;
    throw error;
  }
}

/** The encodings that an entry may name, for messages and docs. Every other label of the Encoding Standard is also accepted. */
export const encodingsNamed: readonly string[] = [
  'utf-8', 'utf-16le', 'utf-16be', 'windows-1250 to 1258', 'iso-8859-1 to 16', 'koi8-r', 'macintosh', 'ibm866', 'shift_jis', 'euc-jp', 'euc-kr', 'gb18030', 'big5',
  ...byLibrary,
]; // prettier-ignore

/** The encoding by its usual name. @throws IngestFailure if it is not known. */
export function knownEncoding(name: string): string {
  if (byLibrary.has(name.toLowerCase())) return name.toLowerCase();
  try {
    return new TextDecoder(name).encoding;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return usageError(`The encoding ${name} is not known. Allowed are ${encodingsNamed.join(', ')}.`);
  }
}
