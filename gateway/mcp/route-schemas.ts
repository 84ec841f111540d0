// Reads the JSON Schemas of the routes' answers from the OpenAPI document that the gateway serves.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../../kernel/project.ts';

type Json = Record<string, unknown>;

interface OpenApi {
  paths: Record<
    string,
    { get?: { responses: Record<string, { content: Record<string, { schema: Json }> }> } }
  >;
  components: { schemas: Json };
}

const inDocument = '#/components/schemas/';

/**
 * By path of the document: the schema of the JSON answer, and the schemas it refers to, for `$defs`. @throws Error if the path is not in the
 * document.
 */
export function openRouteSchemas(): (route: string) => { schema: Json; $defs: Json } {
  const document = JSON.parse(
    readFileSync(path.join(projectRoot, 'openapi/openapi.json'), 'utf8'),
  ) as OpenApi;
  return (route) => {
    const schema = document.paths[route]?.get?.responses['200']?.content['application/json']?.schema;
    if (schema === undefined) throw new Error(`The OpenAPI document has no JSON answer of GET ${route}.`);
    const $defs: Json = {};
    const add = (text: string) => {
      for (const [, name = ''] of text.matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
        if (Object.hasOwn($defs, name)) continue;
        const own = JSON.stringify(document.components.schemas[name]);
        $defs[name] = JSON.parse(moved(own));
        add(own);
      }
    };
    const text = JSON.stringify(schema);
    add(text);
    return { schema: JSON.parse(moved(text)) as Json, $defs };
  };
}

const moved = (text: string) => text.replaceAll(`"${inDocument}`, '"#/$defs/');
