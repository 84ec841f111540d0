// Writes a TypeScript client of openapi/openapi.json into a directory: node test/openapi/generator/generate.ts DIRECTORY
// Hides that the generator needs TypeScript 5, which is installed beside this file alone: TypeScript 7 has no such interface.
import { registerHooks } from 'node:module';
import { documentFile } from '../../../openapi/published.ts';

registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier, specifier === 'typescript' ? { ...context, parentURL: import.meta.url } : context),
});

const { createClient } = await import('@hey-api/openapi-ts');
await createClient({
  input: documentFile,
  output: process.argv[2] ?? '',
  plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
  logs: { level: 'silent' },
});
