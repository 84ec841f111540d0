// The enums of debt securities, auctions and external trade, for loads and for parameters.
// The migrations that make the tables check the same values.

export const securityTypes = [
  'tfc',
  'sukuk',
  'tbill',
  'pib',
  'gis',
  'commercial_paper',
  'corporate_bond',
  'government_bond',
] as const;

export const securityStatuses = [
  'active',
  'matured',
  'redeemed',
  'defaulted',
  'merged',
  'suspended',
] as const;

/** The long-term rating scale, best first. */
export const ratings = [
  'AAA',
  'AA+',
  'AA',
  'AA-',
  'A+',
  'A',
  'A-',
  'BBB+',
  'BBB',
  'BBB-',
  'BB+',
  'BB',
  'BB-',
  'B+',
  'B',
  'B-',
  'CCC+',
  'CCC',
  'CCC-',
  'CC',
  'C',
  'D',
] as const;

export const auctionInstruments = [
  'mtb',
  'pib_fixed',
  'pib_floating',
  'gis_fixed',
  'gis_variable',
  'gis_discounted',
  'bill',
  'cmb',
  'note',
  'bond',
  'tips',
  'frn',
] as const;

export const auctionStatuses = ['announced', 'held', 'rejected', 'cancelled'] as const;
export const auctionFormats = ['competitive', 'non_competitive'] as const;

export const tradeFlows = ['import', 'export', 're_export'] as const;
export const tradeClassifications = ['hs', 'sitc', 'bec', 'national_group'] as const;
export const tradeBases = ['customs', 'bop'] as const;

/** The format of codes in files and parameters; they are stored in upper case. */
export const codeShapes = {
  currency: /^[A-Za-z]{3}$/,
  country: /^[A-Za-z]{3}$/,
  partner: /^[A-Za-z0-9_-]{1,16}$/,
  commodity: /^[A-Za-z0-9._-]{1,20}$/,
};

/** The stored code of a trade partner; `WLD` is all countries. */
export function partnerCode(text: string): string {
  const code = text.toUpperCase();
  return code === 'WORLD' ? 'WLD' : code;
}

/** The stored code of a security: upper case, with a hyphen for each slash or run of blanks. */
export function securityCode(sourceCode: string): string {
  return sourceCode
    .trim()
    .toUpperCase()
    .replaceAll(/\s*\/\s*|\s+/g, '-');
}

/**
 * `13-Week`, `3 months`, `10Y`, `9-Year 10-Month` → `13W`, `3M`, `10Y`, `9Y10M`; undefined if it is not a tenor. Its parts are
 * years, months, weeks and days, in that order.
 */
export function tenor(text: string): string | undefined {
  const unit = (letters: string) => `(?:(\\d{1,4})[ -]?(?:${letters}))?`;
  const units = [unit('y|yrs?|years?'), unit('m|mos?|months?'), unit('w|wks?|weeks?'), unit('d|days?')];
  const parts = new RegExp(`^${units.join('[ ,-]*')}$`, 'i').exec(text.trim())?.slice(1);
  const named = parts?.map((count, at) =>
    count === undefined ? '' : `${Number(count)}${'YMWD'.charAt(at)}`,
  );
  return named?.join('') || undefined;
}
