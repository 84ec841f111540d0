// npm run openapi: writes openapi.json, which the gateway serves, and the parameter tables of the docs, from the
// declarations of the services. A test checks that both are up to date.
import { readFileSync, writeFileSync } from 'node:fs';
import { documentFile, pagesWithTables, publishedDocument, textOf } from './published.ts';
import { withTables } from './tables.ts';

const document = publishedDocument();
writeFileSync(documentFile, textOf(document));
for (const page of pagesWithTables) writeFileSync(page, withTables(readFileSync(page, 'utf8'), document));
