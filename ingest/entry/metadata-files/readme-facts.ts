// Reads facts of the data from the front matter of a README.md beside them: YAML between two lines of `---` at its beginning.
import { parse } from 'yaml';
import { z } from 'zod';
import { fault, metadataText } from './read-metadata.ts';
import { factsOf, licenceFacts, type Stated } from './stated-facts.ts';

const text = z
  .union([z.string(), z.number().transform(String)])
  .nullish()
  .transform((given) => given ?? undefined);
const stated = {
  ...{ title: text, name: text, unit: text, units: text, description: text },
  ...{ source: text, publisher: text, licence: text, license: text, licence_url: text, license_url: text },
};
const columnSchema = z.union([
  z.string().transform((unit) => ({ unit })),
  z.looseObject({ title: text, name: text, unit: text, description: text }),
]);
const frontMatterSchema = z.looseObject({
  ...stated,
  columns: z.record(z.string(), columnSchema).nullish(),
});

/**
 * @returns undefined without front matter, or if that has no facts of the data.
 * @throws IngestFailure if it is not YAML, or a fact is not text.
 */
export function readmeFacts(file: string): Stated | undefined {
  const [, yaml] = /^---[ \t]*\r?\n(.*?)\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/s.exec(metadataText(file)) ?? [];
  if (yaml === undefined) return undefined;
  const parsed = frontMatterSchema.safeParse(parsedYaml(file, yaml) ?? {});
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return fault(file, `in its front matter, ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`);
  }
  const found = parsed.data;
  return {
    facts: factsOf(file, 'the front matter', {
      name: found.title ?? found.name,
      unit: found.unit ?? found.units,
      description: found.description,
      source: found.source ?? found.publisher,
      ...licenceFacts(found.licence ?? found.license, found.licence_url ?? found.license_url),
    }),
    columns: new Map(
      Object.entries(found.columns ?? {}).map(([title, column]) => [
        title,
        factsOf(file, `column ${title}`, {
          name: 'title' in column ? (column.title ?? column.name) : undefined,
          unit: column.unit,
          description: 'description' in column ? column.description : undefined,
        }),
      ]),
    ),
  };
}

function parsedYaml(file: string, yaml: string): unknown {
  try {
    return parse(yaml, { prettyErrors: false });
  } catch (error) {
    return fault(
      file,
      `its front matter is not valid YAML (${error instanceof Error ? error.message : ''})`,
      error,
    );
  }
}
