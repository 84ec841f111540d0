// Reads the facts of one resource from a Frictionless datapackage.json.
import path from 'node:path';
import { z } from 'zod';
import { wordsOf } from '../file-name.ts';
import { fault, metadataJson } from './read-metadata.ts';
import { factsOf, licenceFacts, type Stated } from './stated-facts.ts';

const text = z.string().optional();
const named = z.looseObject({ title: text, name: text, path: text });
const stated = {
  title: text,
  description: text,
  unit: text,
  sources: z.array(named).optional(),
  licenses: z.array(named).optional(),
};
const fieldSchema = z.looseObject({ name: z.string(), title: text, description: text, unit: text });
const resourceSchema = z.looseObject({
  ...stated,
  name: text,
  path: z.union([z.string(), z.array(z.string())]).optional(),
  // A schema may be a URL, which is not followed.
  schema: z.union([z.string(), z.looseObject({ fields: z.array(fieldSchema).optional() })]).optional(),
});
const packageSchema = z.looseObject({ ...stated, resources: z.array(resourceSchema) });

type Described = z.output<z.ZodObject<typeof stated>>;

const ending = 'datapackage.json';

export const isPackage = (name: string): boolean => name.endsWith(ending);

/**
 * @param file the package, called datapackage.json. One with something before that, such as `gdp__datapackage.json`, describes the files that
 *   have the same before their names.
 * @param data the path of the file of data, from the folder of the package.
 * @returns undefined if no resource is this file.
 * @throws IngestFailure if it is not a data package.
 */
export function packageFacts(file: string, data: string): Stated | undefined {
  const parsed = packageSchema.safeParse(metadataJson(file));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return fault(file, `it is not a data package (${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''})`);
  }
  const prefix = path.basename(file).slice(0, -ending.length);
  const { resources, ...whole } = parsed.data;
  const isIt = (name: string) =>
    path.posix.normalize(name) === data || `${prefix}${path.posix.basename(name)}` === data;
  const resource = resources.find(({ path: names = [] }) => [names].flat().some(isIt));
  if (resource === undefined) return undefined;
  const named = resource.title ?? (resource.name === undefined ? undefined : wordsOf(resource.name));
  const title = resources.length > 1 ? joined(whole.title, named) : (resource.title ?? whole.title);
  const fields = typeof resource.schema === 'object' ? (resource.schema.fields ?? []) : [];
  return {
    facts: factsOf(file, 'resource', {
      name: title,
      unit: resource.unit ?? whole.unit,
      description: resource.description ?? whole.description,
      source: sourceOf(resource) ?? sourceOf(whole),
      ...licenceOf(resource.licenses === undefined ? whole : resource),
    }),
    columns: new Map(
      fields.map((field) => [
        field.name,
        factsOf(file, `field ${field.name}`, {
          name: field.title,
          unit: field.unit,
          description: field.description,
        }),
      ]),
    ),
  };
}

const joined = (whole: string | undefined, part: string | undefined) =>
  whole !== undefined && part !== undefined && !part.includes(whole) ? `${whole}, ${part}` : (part ?? whole);

/** A package may list the URL of every source file. */
const sourcesNamed = 3;

function sourceOf({ sources = [] }: Described): string | undefined {
  const titles = sources.flatMap(({ title, name }) => title ?? name ?? []);
  return titles.length === 0 ? undefined : titles.slice(0, sourcesNamed).join('; ');
}

function licenceOf({ licenses: [licence] = [] }: Described) {
  const { title, name, path } = licence ?? {};
  return licenceFacts(title ?? (name === undefined ? undefined : inWords(name)), path);
}

/** A name of words, such as `public_domain_dedication`, as people write it; a code, such as `ODC-PDDL-1.0`, stays. */
const inWords = (name: string): string =>
  /^[a-z]+(?:_[a-z]+){2,}$/.test(name)
    ? `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('_', ' ')}`
    : name;
