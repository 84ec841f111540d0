// npm run openapi: writes openapi.json, which the gateway serves, the parameter tables of the docs, the catalogue of events and the
// types of the TypeScript client, from the declarations of the services; and the forms that publish recognises. A test checks that all match.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { keysSchemaFile, keysSchemaText } from './almanac-keys.ts';
import { clientDirectory, clientTypes } from './client-types.ts';
import { documentFile, pageOf, publishedDocument, textOf, writtenPages } from './published.ts';

const document = publishedDocument();
writeFileSync(documentFile, textOf(document));
writeFileSync(keysSchemaFile, keysSchemaText());
for (const page of writtenPages) writeFileSync(page, pageOf(readFileSync(page, 'utf8'), document));
for (const [name, text] of Object.entries(await clientTypes()))
  writeFileSync(path.join(clientDirectory, name), text);
