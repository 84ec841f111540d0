// Reads a Frictionless datapackage.json: one of its resources becomes the input and the options of a load.
// Options of the command line override those of the package.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { ignoredTitles } from '../datasets/columns.ts';
import type { Dataset } from '../datasets/dataset.ts';
import { datasetNamed } from '../datasets/datasets.ts';
import { IngestFailure, usageError } from '../failure.ts';
import { withoutUndefined, type LoadOptions } from './store/load-options.ts';

const fieldSchema = z.looseObject({
  name: z.string(),
  type: z.string().default('any'),
  format: z.string().optional(),
  decimalChar: z.string().optional(),
  groupChar: z.string().optional(),
});

const resourceSchema = z.looseObject({
  name: z.string(),
  title: z.string().optional(),
  description: z.string().optional(),
  path: z.union([z.string(), z.array(z.string())]).optional(),
  encoding: z.string().optional(),
  dialect: z.looseObject({ delimiter: z.string().optional(), header: z.boolean().optional() }).optional(),
  schema: z
    .looseObject({ fields: z.array(fieldSchema), missingValues: z.array(z.string()).optional() })
    .optional(),
});

const packageSchema = z.looseObject({
  resources: z.array(resourceSchema).min(1),
  sources: z.array(z.looseObject({ title: z.string().optional() })).optional(),
  licenses: z.array(z.looseObject({ title: z.string().optional(), name: z.string().optional() })).optional(),
});

type Package = z.infer<typeof packageSchema>;
type Resource = z.infer<typeof resourceSchema>;
type Field = z.infer<typeof fieldSchema>;

/**
 * Returns the options that load the chosen resource, or the only one: file, delimiter, encoding, missing values, number signs and date
 * format; the date and value columns, found by their types; for new series, the resource's name as id, and name, source and licence.
 * @throws IngestFailure if the package cannot be read, or has several resources and none is chosen.
 */
export function packageOptions(options: LoadOptions, file: string): LoadOptions {
  const description = readPackage(file);
  const resource = chosen(description.resources, options.resource);
  const fields = resource.schema?.fields ?? [];
  const number = fields.find((field) => field.type === 'number');
  const date = fields.find((field) => dateTypes.includes(field.type));
  if (resource.dialect?.header === false) usageError(`The resource ${resource.name} has no header line.`);
  const found: Partial<LoadOptions> = {
    delimiter: resource.dialect?.delimiter,
    encoding: resource.encoding,
    decimal: number?.decimalChar,
    thousands: number?.groupChar === '' ? undefined : number?.groupChar,
    dateFormat: patternOf(date),
  };
  return {
    ...found,
    ...withoutUndefined(options),
    missing: [...(resource.schema?.missingValues ?? []), ...(options.missing ?? [])],
    ...namesOf(datasetNamed(options.dataset), options, description, resource),
    input: fileOf(resource, file),
  };
}

/** The file of the chosen resource, or of the only one. @throws IngestFailure as `packageOptions` does. */
export const dataFileOf = (file: string, resource: string | undefined): string =>
  fileOf(chosen(readPackage(file).resources, resource), file);

const dateTypes = ['date', 'datetime', 'year', 'yearmonth'];

function readPackage(file: string): Package {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(file, 'utf8').replace(/^\ufeff/, ''));
  } catch (error) {
    throw new IngestFailure('invalid_file', `${file} cannot be read as JSON.`, { cause: error });
  }
  const parsed = packageSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const reason = `${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`;
  throw new IngestFailure('invalid_file', `${file} is not a data package (${reason}).`);
}

function chosen(resources: readonly Resource[], name: string | undefined): Resource {
  const names = resources.map((resource) => resource.name).join(', ');
  if (name === undefined) {
    const [only, second] = resources;
    if (only === undefined || second !== undefined)
      usageError(`The package has more than one resource: choose one with --resource (${names}).`);
    return only;
  }
  return (
    resources.find((resource) => resource.name === name) ??
    usageError(`The package has ${names}, and no ${name}.`)
  );
}

/** Packages refer to files below their own folder; URLs are not followed. */
function fileOf(resource: Resource, packageFile: string): string {
  const [name, second] = [resource.path ?? []].flat();
  if (name === undefined || second !== undefined)
    usageError(`The resource ${resource.name} is not one file.`);
  const folder = path.dirname(packageFile);
  const file = path.resolve(folder, name);
  if (/^[a-z]+:\/\//i.test(name) || path.isAbsolute(name) || path.relative(folder, file).startsWith('..'))
    usageError(`The file of ${resource.name} is not in the folder of the package: ${name}.`);
  return file;
}

/** The column mapping, and the constants for new series. */
function namesOf(
  dataset: Dataset,
  options: LoadOptions,
  description: Package,
  resource: Resource,
): Pick<LoadOptions, 'map' | 'set'> {
  const { map = {}, set = {}, wide = false, create = false } = options;
  if (dataset.kind !== 'points') return { map, set };
  const all = resource.schema?.fields ?? [];
  const ignored = ignoredTitles(
    options.ignore,
    all.map(({ name }) => name),
  );
  const fields = all.filter((field) => !ignored.includes(field.name));
  const isNamed = (name: string) =>
    name in map || name in set || fields.some((field) => field.name.toLowerCase() === name);
  const columns: Record<string, string> = { ...map };
  const date = fields.find((field) => dateTypes.includes(field.type));
  if (date !== undefined && !isNamed('date')) columns['date'] = date.name;
  const [value, second] = fields.filter((field) => field.type === 'number' || field.type === 'integer');
  if (value !== undefined && second === undefined && !isNamed('value') && !wide)
    columns['value'] = value.name;

  const facts: Record<string, string | undefined> = {
    name: resource.title,
    description: resource.description,
    source: description.sources?.[0]?.title,
    licence: description.licenses?.[0]?.title ?? description.licenses?.[0]?.name,
  };
  // The title is for one series; in a wide file each series has its own.
  if (wide) delete facts['name'];
  const constants: Record<string, string> = {};
  if (create) Object.assign(constants, withoutUndefined(facts));
  for (const name of Object.keys(constants)) if (isNamed(name)) delete constants[name];
  if (!wide && !isNamed('series_id')) constants['series_id'] = resource.name;
  return { map: columns, set: { ...constants, ...set } };
}

const patternParts: Record<string, string> = {
  '%Y': 'YYYY',
  '%y': 'YY',
  '%m': 'MM',
  '%d': 'DD',
  '%b': 'MMM',
  '%B': 'MMMM',
};

/** The package uses strptime formats; ISO dates need no pattern. */
function patternOf(field: Field | undefined): string | undefined {
  const format = field?.format;
  if (format === undefined || ['default', 'any', '%Y-%m-%d', '%Y-%m', '%Y'].includes(format))
    return undefined;
  return format.replaceAll(
    /%./g,
    (part) => patternParts[part] ?? usageError(`The date format ${format} is not supported.`),
  );
}
