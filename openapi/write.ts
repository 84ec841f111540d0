// npm run openapi: writes openapi.json, which the gateway serves, the parameter tables of the docs and the catalogue of events, from
// the declarations of the services. A test checks that all are up to date.
import { readFileSync, writeFileSync } from 'node:fs';
import { documentFile, pageOf, publishedDocument, textOf, writtenPages } from './published.ts';

const document = publishedDocument();
writeFileSync(documentFile, textOf(document));
for (const page of writtenPages) writeFileSync(page, pageOf(readFileSync(page, 'utf8'), document));
