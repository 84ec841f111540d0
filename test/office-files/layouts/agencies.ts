// The exchange formats of agencies: SDMX-CSV, Eurostat TSV, Statistics Canada, BLS, IMF, the World Bank, FRED, and prices with identifiers.
import { textCell, type Cell, type Frequency, type Sheet } from '../office-file.ts';
import { noMarks, seriesOf, subjectsOf, type Statistics, type Subject } from '../statistics.ts';
import { somePeriods, type Period } from '../periods.ts';
import { cellAt } from './plain.ts';

const letters: Readonly<Record<Frequency, string>> = {
  annual: 'A',
  semiannual: 'S',
  quarterly: 'Q',
  monthly: 'M',
  weekly: 'W',
  daily: 'B',
};
const words: Readonly<Record<string, string>> = {
  A: 'Annual',
  S: 'Half-yearly',
  Q: 'Quarterly',
  M: 'Monthly',
  W: 'Weekly',
  B: 'Daily',
};
const countries = [
  ['DE', 'Germany'],
  ['FR', 'France'],
  ['NA', 'Namibia'],
  ['NO', 'Norway'],
  ['TR', 'Türkiye'],
  ['CI', "Côte d'Ivoire"],
] as const;

/** As SDMX writes a period. */
function sdmxPeriod(frequency: Frequency, { year, part, last }: Period): string {
  const two = String(part).padStart(2, '0');
  const forms = {
    annual: `${year}`,
    semiannual: `${year}-S${part}`,
    quarterly: `${year}-Q${part}`,
    monthly: `${year}-${two}`,
  };
  return frequency === 'weekly' ? `${year}-W${two}` : frequency === 'daily' ? last : forms[frequency];
}

const withDates = (statistics: Statistics): Statistics => ({
  ...statistics,
  dates: {
    name: 'SDMX periods',
    write: (period) => textCell(sdmxPeriod(statistics.frequency, period)),
    ...(statistics.frequency === 'weekly' && { within: 'week' as const }),
  },
});

const sheetOf = (rows: Cell[][], series: Sheet['series'], questions: Sheet['questions'] = []): Sheet => ({
  table: { rows, merges: [], first: 1, isFreeOrder: true },
  series,
  questions,
});

const flagsOnly = (statistics: Statistics): Statistics => ({
  ...statistics,
  marks: {
    ...noMarks,
    missing: statistics.random.pick([[''], ['NaN'], ['']]),
    flags: ['P', 'E', 'B'],
    put: (number: string) => number,
  },
});

/** SDMX-CSV with codes, with names, or with both in a cell; with names in columns next to the codes. */
export function sdmxCsv(given: Statistics): Sheet {
  const statistics = flagsOnly(withDates(given));
  const { random, frequency, periods } = statistics;
  const labels = random.pick(['id', 'name', 'both', 'beside'] as const);
  const areas = random.shuffled(countries).slice(0, random.whole(2, 4));
  const subjects = subjectsOf(statistics, 1, areas.length);
  const multiplier = random.pick([0, 3, 6, 9]);
  const code = letters[frequency];
  const text = (id: string, name: string) =>
    labels === 'both' ? `${id}: ${name}` : labels === 'name' ? name : id;
  const pair = (id: string, name: string) => (labels === 'beside' ? [id, name] : [text(id, name)]);
  const titles = (id: string, name: string) => (labels === 'beside' ? [id, name] : [text(id, name)]);
  const header = [
    'DATAFLOW',
    ...titles('FREQ', 'Frequency'),
    ...titles('REF_AREA', 'Reference area'),
    ...titles('TIME_PERIOD', 'Time period').slice(0, 1),
    ...titles('OBS_VALUE', 'Observation value').slice(0, 1),
    ...titles('UNIT_MEASURE', 'Unit of measure'),
    ...titles('UNIT_MULT', 'Unit multiplier'),
    ...titles('OBS_STATUS', 'Observation status').slice(0, 1),
  ];
  const multiplierName = { 0: 'Units', 3: 'Thousands', 6: 'Millions', 9: 'Billions' }[multiplier] ?? '';
  const rows = subjects.flatMap((subject, area) =>
    periods.map((period, at) => [
      ...['OECD:DF_X(1.0)', ...pair(code, words[code] ?? ''), ...pair(areas[area]![0], areas[area]![1])].map(
        textCell,
      ),
      ...[statistics.dates.write(period), cellAt(statistics, subject, at)],
      ...[...pair('USD', 'US dollar'), ...pair(String(multiplier), multiplierName)].map(textCell),
      textCell(text(subject.observations[at]?.flag || 'A', 'Status')),
    ]),
  );
  const series = subjects.map((subject, area) => ({
    ...seriesOf(statistics, subject, [areas[area]!], {
      ...(multiplier > 0 && { unit_multiplier: multiplier }),
    }),
  }));
  return sheetOf([header.map(textCell), ...rows], series);
}

/** Eurostat's TSV: dimensions packed into the first column, flags behind the values, blanks around them. */
export function eurostat(given: Statistics): Sheet {
  const statistics: Statistics = {
    ...withDates(given),
    marks: {
      name: ': c',
      missing: [': ', ': c', ':'],
      flags: ['p', 'e', 'b', 'bp'],
      put: (number, flag) => `${number} ${flag}`,
    },
  };
  const { random, frequency, periods } = statistics;
  const areas = random.shuffled(['BE', 'DE', 'NO', 'EA20', 'EU27_2020', 'FR']).slice(0, random.whole(2, 4));
  const subjects = subjectsOf(statistics, 1, areas.length);
  const isNewestFirst = random.chance(0.3);
  const order = periods.map((_, at) => (isNewestFirst ? periods.length - 1 - at : at));
  const title = String.raw`freq,unit,geo\TIME_PERIOD`;
  const rows = subjects.map((subject, area) => [
    textCell(`${letters[frequency]},RT,${areas[area]}`),
    ...order.map((at) => padded(cellAt(statistics, subject, at))),
  ]);
  const header = [textCell(title), ...order.map((at) => padded(statistics.dates.write(periods[at]!)))];
  return sheetOf(
    [header, ...rows],
    subjects.map((subject, area) => seriesOf(statistics, subject, [areas[area] ?? ''])),
  );
}

const padded = ({ text }: Cell) => textCell(`${text} `);

/** Statistics Canada: vectors, coordinates, and the scale as a word. */
export function statCan(given: Statistics): Sheet {
  const statistics: Statistics = { ...withDates(given), marks: noMarks };
  const { random, periods } = statistics;
  const places = random.shuffled(['Canada', 'Ontario', 'Quebec', 'Alberta']).slice(0, 3);
  const subjects = subjectsOf(statistics, 1, places.length);
  const [scale, scaleId, multiplier] = random.pick([
    ['units', '0', undefined],
    ['thousands', '3', 3],
    ['millions', '6', 6],
  ] as const);
  const header =
    'REF_DATE,GEO,DGUID,Estimates,UOM,UOM_ID,SCALAR_FACTOR,SCALAR_ID,VECTOR,COORDINATE,VALUE,STATUS,SYMBOL,TERMINATED,DECIMALS';
  const rows = subjects.flatMap((subject, place) =>
    periods.map((period, at) => [
      statistics.dates.write(period),
      ...[
        places[place]!,
        `2016A00011${place}`,
        'Gross domestic product',
        'Dollars',
        '81',
        scale,
        scaleId,
      ].map(textCell),
      ...[`v6230575${place}`, `1.${place + 1}`].map(textCell),
      cellAt(statistics, subject, at),
      ...['', '', '', String(statistics.decimals)].map(textCell),
    ]),
  );
  return sheetOf(
    [header.split(',').map(textCell), ...rows],
    subjects.map((subject, place) =>
      seriesOf(statistics, subject, [[places[place]!, `v6230575${place}`]], {
        ...(multiplier !== undefined && { unit_multiplier: multiplier }),
      }),
    ),
  );
}

/** The Bureau of Labor Statistics: `M01` … `M13`, which is the average of the year; ids and values padded by blanks. */
export function bls(given: Statistics): Sheet {
  const statistics: Statistics = { ...given, marks: noMarks };
  const { random, periods } = statistics;
  const subjects = subjectsOf(statistics, random.whole(1, 2), 1);
  const ids = subjects.map((_, at) => `CUUR0000SA${at}L1E`);
  const isPadded = random.chance(0.5);
  const pad = (text: string, width: number) => (isPadded ? text.padEnd(width) : text);
  const hasAverage = random.chance(0.6);
  const rows = subjects.flatMap((subject, which) =>
    periods.flatMap((period, at) => {
      const row = (part: number, value: string) =>
        [pad(ids[which]!, 17), String(period.year), `M${String(part).padStart(2, '0')}`, value, ''].map(
          textCell,
        );
      const value = subject.observations[at]?.value ?? '';
      const own = row(period.part, isPadded ? value.padStart(12) : value);
      return period.part === 12 && hasAverage
        ? [own, row(13, isPadded ? '99.5'.padStart(12) : '99.5')]
        : [own];
    }),
  );
  return sheetOf(
    [['series_id', 'year', 'period', 'value', 'footnote_codes'].map((title) => textCell(title)), ...rows],
    subjects.map((subject, at) => seriesOf(statistics, subject, [ids[at]!])),
    hasAverage ? ['sums'] : [],
  );
}

/** The World Bank and the IMF: names and codes of country and indicator, then the periods. */
export function countryIndicator(given: Statistics): Sheet {
  const statistics: Statistics = { ...withDates(given), marks: noMarks };
  const { random, periods } = statistics;
  const areas = random.shuffled(countries).slice(0, random.whole(2, 4));
  const subjects = subjectsOf(statistics, 1, areas.length);
  const isImf = random.chance(0.4);
  const scale = random.pick(['Units', 'Millions', 'Billions']);
  const multiplier = { Units: undefined, Millions: 6, Billions: 9 }[scale];
  const fixed = isImf
    ? ['Country Name', 'Country Code', 'Indicator Name', 'Indicator Code', 'Scale']
    : ['Country Name', 'Country Code', 'Indicator Name', 'Indicator Code'];
  const rows = subjects.map((subject, area) => [
    ...[areas[area]![1], areas[area]![0], 'Growth (annual %)', 'NY.GROWTH', ...(isImf ? [scale] : [])].map(
      textCell,
    ),
    ...periods.map((_, at) => cellAt(statistics, subject, at)),
  ]);
  return sheetOf(
    [[...fixed.map(textCell), ...periods.map((period) => statistics.dates.write(period))], ...rows],
    subjects.map((subject, area) =>
      seriesOf(statistics, subject, [areas[area]!], {
        ...(isImf && multiplier !== undefined && { unit_multiplier: multiplier }),
      }),
    ),
  );
}

/** FRED's releases: each value is stated, and later revised; the day of publication is a column. */
export function releases(given: Statistics): Sheet {
  const statistics: Statistics = { ...given, marks: noMarks };
  const { random, periods } = statistics;
  const [subject] = subjectsOf(statistics, 1, 1) as [Subject];
  const [published, date] = random.pick([
    ['realtime_start', 'date'],
    ['release_date', 'date'],
    ['Published', 'Period'],
  ] as const);
  const rows = periods.flatMap((period, at) =>
    [0, 1].map((revision) => {
      const day = new Date(Date.parse(period.last) + (25 + revision * 29) * 86_400_000)
        .toISOString()
        .slice(0, 10);
      const value = subject.observations[at]?.value ?? '';
      const text =
        revision === 1 || value === ''
          ? value
          : value.replace(/\d$/, (digit) => String((Number(digit) + 3) % 10));
      return [day, statistics.frequency === 'annual' ? String(period.year) : period.first, text].map((each) =>
        textCell(each),
      );
    }),
  );
  return sheetOf(
    [[published, date, 'value'].map((title) => textCell(title)), ...rows],
    [seriesOf(statistics, subject, [])],
    ['vintage'],
  );
}

/** Prices with identifiers of markets and goods next to their names: the identifiers are not values. */
export function identifiers(given: Statistics): Sheet {
  const statistics: Statistics = { ...given, marks: noMarks };
  const { random, periods } = statistics;
  const goods = random.shuffled(['Sugar', 'Wheat flour', 'Rice (coarse)', 'Milk']).slice(0, 2);
  const markets = random.shuffled(['Multan', 'Quetta', 'Lahore']).slice(0, 2);
  const subjects = subjectsOf(statistics, 1, 1);
  const all = goods.flatMap((good, g) =>
    markets.map((market, m) => ({
      good,
      market,
      g,
      m,
      subject: { ...subjects[0]!, observations: subjectsOf(statistics, 1, 1)[0]!.observations },
    })),
  );
  const header = ['date', 'market', 'market_id', 'commodity', 'commodity_id', 'unit', 'currency', 'price'];
  const rows = all.flatMap(({ good, market, g, m, subject }) =>
    periods.map((period, at) => [
      statistics.dates.write(period),
      ...[market, String(266 + m), good, String(97 + g * 14), 'KG', 'PKR'].map((text) => textCell(text)),
      cellAt(statistics, subject, at),
    ]),
  );
  return sheetOf(
    [header.map((title) => textCell(title)), ...rows],
    all.map(({ good, market, subject }) => seriesOf(statistics, subject, [good, market])),
  );
}

/** Keys of series with their unit and name. Some keys differ only in the case of a letter. */
export function seriesKeys(statistics: Statistics): Sheet {
  const { random, periods } = statistics;
  const keys = random.pick([
    ['PRC.M.a', 'PRC.M.A'],
    ['BOP.TS1', 'BOP.TS2', 'BOP.TS3'],
    ['x1', 'X1', 'x2'],
  ]);
  const subjects = subjectsOf(statistics, 1, keys.length);
  const rows = subjects.flatMap((subject, which) =>
    periods.map((period, at) => [
      ...[keys[which]!, `Series of ${subject.region}`, 'Percent'].map((text) => textCell(text)),
      statistics.dates.write(period),
      cellAt(statistics, subject, at),
    ]),
  );
  return sheetOf(
    [
      ['Series Key', 'Series Name', 'Unit', 'Observation Date', 'Observation Value'].map((title) =>
        textCell(title),
      ),
      ...rows,
    ],
    subjects.map((subject, which) =>
      seriesOf(statistics, subject, [[keys[which]!, subject.region]], { unit: 'Percent' }),
    ),
  );
}

/** Series of several frequencies below each other. */
export function mixedFrequencies(given: Statistics): Sheet {
  const { random } = given;
  const marks = given.marks;
  const parts = (['monthly', 'quarterly', 'annual'] as const).map((frequency) => {
    const statistics = withDates({ ...given, marks, frequency, periods: somePeriods(random, frequency) });
    return { statistics, subject: subjectsOf(statistics, 1, 1)[0]! };
  });
  const chosen = random.chance(0.5) ? parts : parts.slice(0, 2);
  const names = random.shuffled(['Deposits', 'Loans', 'Turnover']);
  const rows = chosen.flatMap(({ statistics, subject }, which) =>
    statistics.periods.map((period, at) => [
      textCell(names[which]!),
      textCell(letters[statistics.frequency]),
      statistics.dates.write(period),
      cellAt(statistics, subject, at),
    ]),
  );
  return sheetOf(
    [['Indicator', 'Frequency', 'Period', 'Value'].map((title) => textCell(title)), ...rows],
    chosen.map(({ statistics, subject }, which) => seriesOf(statistics, subject, [names[which]!])),
  );
}
