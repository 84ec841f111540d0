// Writes a TypeScript client of openapi/openapi.json into a directory: node test/openapi/generator/generate.ts DIRECTORY [--types]
// With --types only the types, and only of answers that are not errors and have all their fields. Hides that the generator needs TypeScript 5, which is installed
// beside this file alone: TypeScript 7 has no such interface.
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { documentFile } from '../../../openapi/published.ts';

registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier, specifier === 'typescript' ? { ...context, parentURL: import.meta.url } : context),
});

const { createClient } = await import('@hey-api/openapi-ts');
const [output = '', ofTypes] = process.argv.slice(2);
await createClient({
  input: ofTypes === '--types' ? withoutErrors(readFileSync(documentFile, 'utf8')) : documentFile,
  output,
  plugins:
    ofTypes === '--types'
      ? ['@hey-api/typescript']
      : ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
  logs: { level: 'silent' },
});

/**
 * The document without answers of 400 and above, which make up two thirds of all types: clients throw one type of error. Its rows have all
 * their fields, as they do unless a call asks for some of them by `fields`.
 */
function withoutErrors(text: string): Record<string, unknown> {
  const document = JSON.parse(text) as { paths: Record<string, Record<string, { responses: object }>> };
  for (const operation of Object.values(document.paths).flatMap((each) => Object.values(each))) {
    operation.responses = Object.fromEntries(
      Object.entries(operation.responses).filter(([status]) => Number(status) < 400),
    );
  }
  return Object.fromEntries(Object.entries(document).map(([name, part]) => [name, withWholeRows(part)]));
}

function withWholeRows(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withWholeRows);
  if (typeof value !== 'object' || value === null) return value;
  const whole: Record<string, unknown> = Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withWholeRows(member)]),
  );
  const { properties, 'x-narrowed-by': narrowedBy, 'x-may-lack': mayLack } = whole;
  if (narrowedBy !== 'fields' || typeof properties !== 'object' || properties === null) return whole;
  const lacking: unknown[] = Array.isArray(mayLack) ? mayLack : [];
  return { ...whole, required: Object.keys(properties).filter((name) => !lacking.includes(name)) };
}
