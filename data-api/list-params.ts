// The parameters that narrow every list, from one declaration: filters of several values, bounds of numbers and dates, ids, and the count
// alone.
import { z } from 'zod';
import { refuseParam } from '../kernel/errors.ts';
import type { DateRange } from '../kernel/dates.ts';
import { flagParam, periodParam, severalParam } from '../kernel/http/params.ts';

/** name → the parameter of one value. */
export type Filters = Readonly<Record<string, z.ZodType>>;

type Several<Asked extends Filters> = {
  -readonly [Name in keyof Asked]: z.ZodOptional<z.ZodType<readonly z.output<Asked[Name]>[]>>;
};

/** The filters of a list, besides windows and words. */
export interface Narrowing<Asked extends Filters> {
  filters: Asked;
  /** The parameter of one id; undefined if rows have none. */
  id: z.ZodType | undefined;
  /** field → the type of its bounds. */
  bounded: Readonly<Record<string, BoundKind>>;
}

/** A bound of a date is a day or a period. */
export type BoundKind = 'number' | 'date';

const countParam = flagParam(false).describe(
  '`count` is the number of all rows that match, `data` is empty; JSON only.',
);

/** A hundred of the longest ids that a series can have. */
const idsLengthMax = 100 * 129;

/** Accepts every number that an answer prints. */
const numberParam = z
  .string()
  .regex(/^-?\d{1,30}(?:\.\d{1,30})?(?:[eE][+-]?\d{1,2})?$/, 'must be a number such as 12.5')
  .meta({ override: { type: 'number', pattern: undefined } });

/** The parameters of a list: each filter takes several values, `ids` too, and each bounded field has `_min` and `_max`. */
export function narrowingParams<Asked extends Filters>({ filters, id, bounded }: Narrowing<Asked>) {
  const several = Object.entries(filters).map(([name, one]) => [name, severalParam(one).optional()]);
  const ids =
    id === undefined
      ? {}
      : {
          ids: severalParam(id)
            .optional()
            .meta({ description: 'The rows with these ids.', lengthMax: idsLengthMax }),
        };
  const bounds = Object.entries(bounded).flatMap(([field, kind]) => {
    const bound = (kind === 'number' ? numberParam : periodParam).optional();
    return [
      [`${field}_min`, bound.describe(`\`${field}\` is at least this ${nouns[kind]}.`)],
      [`${field}_max`, bound.describe(`\`${field}\` is at most this ${nouns[kind]}.`)],
    ];
  });
  const params = {
    ...Object.fromEntries([...several, ...bounds]),
    ...ids,
    count_only: countParam,
  } as unknown;
  return params as Several<Asked> & { count_only: typeof countParam };
}

const nouns: Readonly<Record<BoundKind, string>> = { number: 'value', date: 'date' };

/** A bound of a request. */
export interface Bound {
  field: string;
  kind: BoundKind;
  side: 'min' | 'max';
  /** A number as text, or a day. Inclusive. */
  value: string;
}

/**
 * The bounds that a request has. @param query as parsed by `narrowingParams`.
 * @throws Failure `invalid_parameter` if the bounds of a field contradict each other.
 */
export function boundsOf(query: object, bounded: Readonly<Record<string, BoundKind>>): Bound[] {
  const given: Readonly<Record<string, unknown>> = { ...query };
  return Object.entries(bounded).flatMap(([field, kind]) => {
    const bounds = (['min', 'max'] as const).flatMap((side): Bound[] => {
      const value = given[`${field}_${side}`] as string | DateRange | undefined;
      if (value === undefined) return [];
      const day = typeof value === 'string' ? value : side === 'min' ? value.from : value.to;
      return [{ field, kind, side, value: day }];
    });
    const [least, most] = bounds.map(({ value }) => (kind === 'number' ? Number(value) : value));
    if (least !== undefined && most !== undefined && least > most) refuseBounds(field, kind);
    return bounds;
  });
}

function refuseBounds(field: string, kind: BoundKind): never {
  const relation = kind === 'number' ? 'greater than' : 'after';
  refuseParam(`${field}_min`, `"${field}_min" must not be ${relation} "${field}_max".`);
}

/** The ids of a request; undefined for all. */
export function idsOf(query: object): readonly string[] | undefined {
  return (query as { ids?: readonly string[] }).ids;
}

/** @throws Failure `invalid_parameter` if a count is requested in another format than JSON. */
export function requireJsonCount({ count_only, format }: { count_only: boolean; format: string }): void {
  if (count_only && format !== 'json') refuseParam('format', 'A count is available as JSON only.');
}
