// The published document: all services, by the routes of config/gateway.config.yml.
import path from 'node:path';
import { endpoints as ofAccounts } from '../accounts-api/routes.ts';
import { endpoints as ofData } from '../data-api/routes.ts';
import { endpoints as ofGateway } from '../gateway/own-endpoints.ts';
import { endpoints as ofPublisher } from '../ingest/operator/routes.ts';
import { loadRoutes } from '../gateway/routes.ts';
import { programVersion, projectRoot } from '../kernel/project.ts';
import { openApiDocument, type DeclaredEndpoint } from './document.ts';
import { withKeys } from './almanac-keys.ts';
import { withEvents } from './events.ts';
import { withRecognised } from './recognised.ts';
import { withTables } from './tables.ts';
import type { Json } from './tidy.ts';
import { policyAnswers } from './policies.ts';

/** The pages with parts that are written from the declarations. */
export const writtenPages = [
  'docs/api.md',
  'docs/bulk.md',
  'docs/fred.md',
  'docs/accounts.md',
  'docs/operator.md',
  'docs/webhooks.md',
  'docs/follow.md',
  'docs/events.md',
  'docs/entries.md',
  'docs/recognised.md',
].map((page) => path.join(projectRoot, page));
export const documentFile = path.join(projectRoot, 'openapi/openapi.json');

/** Every endpoint that a client can call. */
export function declaredEndpoints(): DeclaredEndpoint[] {
  return [
    ...Object.entries(ofData).map(([at, declaration]) => ({
      ...{ method: declaration.method, path: at, declaration },
    })),
    ...ofAccounts.map(([method, at, declaration]) => ({
      method,
      path: at,
      declaration,
      requiresSession: declaration.requester === 'signed_in' || declaration.requester === 'operator',
    })),
    ...ofPublisher.map(([method, at, declaration]) => ({
      ...{ method, path: at, declaration },
      requiresSession: true,
    })),
    ...Object.entries(ofGateway).map(([at, { method = 'GET', ...declaration }]) => ({
      ...{ method, path: at, declaration },
    })),
  ];
}

export function publishedDocument(): Json {
  const routes = loadRoutes(path.join(projectRoot, 'config/gateway.config.yml'), Object.keys(policyAnswers));
  return openApiDocument({ version: programVersion, endpoints: declaredEndpoints(), routes });
}

/** The page with the parts that are written from the code up to date. */
export const pageOf = (text: string, document: Json): string =>
  withKeys(withRecognised(withEvents(withTables(text, document))));

export const textOf = (document: Json): string => `${JSON.stringify(document, null, 1)}\n`;
