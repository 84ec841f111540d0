import test from 'ava';
import iconv from 'iconv-lite';
import { declaredEncoding, decoderOf, detectEncoding } from './encodings.ts';

/** Place names and header words, by the encoding of their files. */
const samples: Readonly<Record<string, readonly string[]>> = {
  'windows-1252': ['Mois Région Île-de-France Rhône', 'Jahr Köln München Düsseldorf', 'Año España Cataluña'],
  'windows-1250': ['Miesiąc Łódź Śląsk', 'Rok Říjen Plzeň'],
  'windows-1251': ['Месяц Москва Казань', 'Рік Україна Київ'],
  'windows-1253': ['Μήνας Αθήνα Θεσσαλονίκη'],
  'windows-1254': ['Ay Muğla İstanbul'],
  'windows-1257': ['Metai Šiauliai Panevėžys'],
  'koi8-r': ['Месяц Москва Казань'],
  'iso-8859-2': ['Miesiąc Łódź Śląsk', 'Období Plzeň Děčín'],
  'iso-8859-15': ['Année Sœur Œuvres'],
  cp850: ['Mois Région Rhône'],
  macintosh: ['Mois Région Rhône', 'Päivä Häme heinäkuu'],
  gb18030: ['月份 地区 北京 上海'],
  big5: ['月 地區 臺北 高雄'],
  shift_jis: ['年月 地域 東京 大阪'],
  'euc-jp': ['年月 地域 消費者物価指数 総合'],
  'euc-kr': ['연도 지역 서울 부산'],
};

test('text in each encoding is read as written', (t) => {
  for (const [encoding, texts] of Object.entries(samples))
    for (const words of texts) {
      const text = words.split(' ').map((word, at) => `2023-0${at + 1},${word},${at}\n`).join('').repeat(6); // prettier-ignore
      const bytes = iconv.encode(text, encoding);
      const { name } = detectEncoding(bytes);
      const decoder = decoderOf(name);
      t.is(decoder.write(bytes) + decoder.end(), text, `${encoding} as ${name}`);
    }
});

test('blanks between digits, dashes before them and currencies next to them do not count as letters', (t) => {
  for (const [text, encoding] of [
    ['Wert\nKöln;2\u00a0824,4\n'.repeat(5), 'windows-1252'],
    ['Anno;Valore\n2020;–5.539,0\n'.repeat(5), 'windows-1252'],
    ['Período;Sexo\n4.º Trimestre de 2023;6,6\n'.repeat(5), 'windows-1252'],
    ['Año;1ª\n2º trimestre;6,6\n'.repeat(5), 'windows-1252'],
    ['Metai;Kaina\nbirželis;5,2 zł\n'.repeat(5), 'windows-1257'],
    ['An;Valoare\n2020;5,2 zł\n'.repeat(5), 'windows-1250'],
    ['År;Löner\n2020;5,2\u00a0€\n'.repeat(5), 'iso-8859-15'],
    [`1995年5月,地區\n${'–€ 71030.8,–€ 71030.8\n'.repeat(5)}`, 'big5'],
  ] as const) {
    const { name } = detectEncoding(iconv.encode(text, encoding));
    t.is(decoderOf(name).write(iconv.encode(text, encoding)), text, `${encoding} as ${name}`);
  }
});

test('UTF-8 and UTF-16 are found with and without a byte order mark', (t) => {
  const text = 'Mois,Région\n2023-01,Rhône\n2023-02,Île-de-France\n';
  for (const [encoding, options, name] of [
    ['utf-8', {}, 'utf-8'],
    ['utf-8', { addBOM: true }, 'utf-8'],
    ['utf-16le', {}, 'utf-16le'],
    ['utf-16le', { addBOM: true }, 'utf-16le'],
    ['utf-16be', {}, 'utf-16be'],
    ['utf-16be', { addBOM: true }, 'utf-16be'],
  ] as const)
    t.like(detectEncoding(iconv.encode(text, encoding, options)), { name, isSure: true });
});

test('if two encodings give words, the finding is uncertain and shows both', (t) => {
  const { isSure, evidence } = detectEncoding(iconv.encode('Ay;Muğla\n2023-01;İstanbul\n', 'windows-1254'));
  t.false(isSure);
  t.regex(evidence, /Muğla.* in windows-1254, or ".*Muðla/s);
});

test('a web page is read in its declared encoding, if its bytes are valid in it', (t) => {
  const page = (charset: string, text: string) =>
    Buffer.concat([Buffer.from(`<html><meta charset="${charset}">`), iconv.encode(text, 'windows-1250')]);
  t.like(declaredEncoding(page('windows-1250', 'Győr')), { name: 'windows-1250', isSure: true });
  t.is(declaredEncoding(page('utf-8', 'Győr')), null);
  t.is(declaredEncoding(page('klingon', 'Győr')), null);
  t.is(declaredEncoding(Buffer.from('charset=windows-1250\nGyor')), null);
});

test('capitals in month names are evidence for an encoding, and two scripts in one word are evidence against it', (t) => {
  for (const [text, encoding] of [
    ['Год;Месяц;Значение\n1996;Январь;1\n1996;февраль;2\n1996;апрель;3\n', 'x-mac-cyrillic'],
    ['Regione;Valore\nValle d’Aosta;5\n', 'macintosh'],
  ] as const) {
    const bytes = iconv.encode(text, encoding === 'x-mac-cyrillic' ? 'maccyrillic' : encoding);
    t.is(detectEncoding(bytes).name, encoding);
  }
});

test('an unknown encoding is refused, with the list of known ones', (t) => {
  t.throws(() => decoderOf('klingon'), {
    message: /The encoding klingon is not known\. Allowed are utf-8, .*cp850/,
  });
});
