// The options of a load as stored with a release: those that were checked are those that are loaded.
import { z } from 'zod';
import type { LoadOptions } from '../../load/store/load-options.ts';

const pairs = z.record(z.string(), z.string());
const texts = z.array(z.string());

/** Strict: a process of an older version does not drop an option that it does not know. */
const schema = z.strictObject({
  map: pairs.optional(),
  set: pairs.optional(),
  ignore: texts.optional(),
  skipWhere: z.array(z.strictObject({ column: z.string(), value: z.string() })).optional(),
  mapValue: z.array(z.strictObject({ column: z.string(), value: z.string(), to: z.string() })).optional(),
  missing: texts.optional(),
  decimal: z.string().optional(),
  thousands: z.string().optional(),
  dateFormat: z.string().optional(),
  multiply: pairs.optional(),
  create: z.boolean().optional(),
  mayLackFacts: z.boolean().optional(),
  wide: z.boolean().optional(),
  skipRows: z.int().optional(),
  vintage: z.string().optional(),
  full: z.boolean().optional(),
  skipInvalid: z.boolean().optional(),
  repeated: z.literal('first').optional(),
  delimiter: z.string().optional(),
  encoding: z.string().optional(),
  headerLine: z.int().optional(),
  prefix: z.string().optional(),
  seriesTimeZone: z.string(),
  fiscalYearFirstMonth: z.int().optional(),
});
export type StoredOptions = z.output<typeof schema>;

/** The options that are not stored but set for every load: its input, its callbacks and its clock. */
type GivenAnew =
  | ('dataset' | 'input' | 'sourceName' | 'resource' | 'isRelease')
  | ('dryRun' | 'noGateway' | 'today' | 'clock')
  | ('onProgress' | 'onWaiting' | 'onInterrupted' | 'reportFile');

/** Options that are code: a load that has one cannot be stored. */
type Code = 'rows' | 'covers' | 'inSameTransaction';

/** An option of loads that is in neither list would be lost: then the following line does not compile. */
type Forgotten = Exclude<keyof LoadOptions, keyof StoredOptions | GivenAnew | Code>;
const names: readonly ([Forgotten] extends [never] ? keyof StoredOptions : Forgotten)[] = Object.keys(
  schema.shape,
) as (keyof StoredOptions)[];

/** The options to store. */
export function toStored(options: Omit<LoadOptions, 'input' | Code>): StoredOptions {
  return schema.parse(Object.fromEntries(names.map((name) => [name, options[name]])));
}

/** @throws Error that names the option if this version does not know it. */
export function fromStored(stored: unknown): StoredOptions {
  const parsed = schema.safeParse(stored);
  if (parsed.success) return parsed.data;
  throw new Error(
    `The options of this release are not those of this version of Almanac: ${z.prettifyError(parsed.error)}`,
  );
}
