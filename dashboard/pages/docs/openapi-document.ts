// Converts the OpenAPI document to the content of the reference: operations by tag, each with its parameters, fields and errors.

type Json = Readonly<Record<string, unknown>>;

export interface Field {
  name: string;
  /** The type in words: `string, date`, `one of daily, weekly`. */
  type: string;
  isRequired: boolean;
  description: string;
  /** The nesting depth. */
  depth: number;
}

export interface Answer {
  status: string;
  description: string;
  types: readonly string[];
  /** The fields of the JSON format. */
  fields: readonly Field[];
}

export interface Operation {
  /** The anchor: `get-v1-series-id`. */
  id: string;
  method: string;
  path: string;
  summary: string;
  description: string;
  /** The names of the accepted security schemes; empty if no credential is needed. */
  credentials: readonly string[];
  parameters: readonly (Field & { place: 'path' | 'query' | 'header' })[];
  body: readonly Field[];
  answers: readonly Answer[];
  errors: readonly { status: string; code: string; meaning: string }[];
}

export interface Reference {
  tags: readonly { name: string; description: string; operations: readonly Operation[] }[];
}

/** The maximum depth of the shown fields; deeper ones are described only by their type. */
const depthMax = 3;

/** @param document as `/v1/openapi.json` has it. */
export function readDocument(document: Json): Reference {
  const operations = Object.entries(recordIn(document['paths'])).flatMap(([path, methods]) =>
    Object.entries(recordIn(methods)).map(([method, operation]) => {
      const read = recordIn(operation);
      return {
        tag: textIn(listIn(read['tags'])[0]),
        operation: operationOf(document, { path, method }, read),
      };
    }),
  );
  const tags = listIn(document['tags']).map((tag) => {
    const { name, description } = recordIn(tag);
    return {
      name: textIn(name),
      description: textIn(description),
      operations: operations.filter((each) => each.tag === name).map(({ operation }) => operation),
    };
  });
  return { tags: tags.filter((tag) => tag.operations.length > 0) };
}

function operationOf(
  document: Json,
  { path, method }: { path: string; method: string },
  read: Json,
): Operation {
  const responses = Object.entries(recordIn(read['responses'])).map(
    ([status, response]) => [status, resolved(document, response)] as const,
  );
  const [summary, description] = [textIn(read['summary']), textIn(read['description'])];
  return {
    id: anchorOf(method, path),
    method: method.toUpperCase(),
    path,
    summary,
    description: description === summary ? '' : description.replace(summary, '').trim(),
    credentials: listIn(read['security']).flatMap((each) => Object.keys(recordIn(each))),
    parameters: listIn(read['parameters']).map((each) => parameterOf(document, resolved(document, each))),
    body: jsonFields(document, resolved(document, read['requestBody'])),
    answers: responses
      .filter(([status]) => Number(status) < 400)
      .map(([status, response]) => ({
        status,
        description: textIn(response['description']),
        types: Object.keys(recordIn(response['content'])),
        fields: jsonFields(document, response),
      })),
    errors: responses
      .filter(([status]) => Number(status) >= 400)
      .flatMap(([status, response]) => errorsOf(status, textIn(response['description']))),
  };
}

/** The anchor of an operation: `get-v1-series-id`. */
export function anchorOf(method: string, path: string): string {
  return `${method.toLowerCase()}${path.replaceAll(/[{}]/g, '').replaceAll(/[^A-Za-z0-9]+/g, '-')}`;
}

function parameterOf(document: Json, read: Json): Operation['parameters'][number] {
  const place = read['in'];
  return {
    name: textIn(read['name']),
    type: typeOf(document, read['schema']),
    isRequired: read['required'] === true,
    description: textIn(read['description']),
    depth: 0,
    place: place === 'path' || place === 'header' ? place : 'query',
  };
}

/** The description of an error response has a paragraph per code. */
function errorsOf(status: string, description: string): Operation['errors'] {
  return [...description.matchAll(/^`([a-z_]+)`: (.+)$/gm)].map(([, code = '', meaning = '']) => ({
    status,
    code,
    meaning,
  }));
}

function jsonFields(document: Json, message: Json): Field[] {
  const { schema } = recordIn(recordIn(message['content'])['application/json']);
  return schema === undefined ? [] : fieldsOf(document, schema, 0);
}

/** The fields of an object, or of the items of a list, with those within them. */
function fieldsOf(document: Json, schema: unknown, depth: number): Field[] {
  const whole = merged(document, schema);
  if (depth > depthMax) return [];
  if (whole['items'] !== undefined) return fieldsOf(document, whole['items'], depth);
  const required = new Set(listIn(whole['required']));
  const isNarrowed = whole['x-narrowed-by'] === 'fields';
  return Object.entries(recordIn(whole['properties'])).flatMap(([name, property]) => [
    {
      name,
      type: typeOf(document, property),
      isRequired: isNarrowed || required.has(name),
      description: textIn(resolved(document, property)['description']),
      depth,
    },
    ...fieldsOf(document, property, depth + 1),
  ]);
}

/** One object for all parts of `allOf`, and for the form of `anyOf` that is not null. */
function merged(document: Json, schema: unknown): Json {
  const read = resolved(document, schema);
  const parts = [...listIn(read['allOf']), ...formsOf(document, read)].map((part) => merged(document, part));
  if (parts.length === 0) return read;
  const properties = Object.assign(
    {},
    ...parts.map((part) => part['properties']),
    read['properties'],
  ) as object;
  const required = [...parts, read].flatMap((part) => listIn(part['required']));
  const items = [read, ...parts].find((part) => part['items'] !== undefined)?.['items'];
  return { ...read, properties, required, ...(items === undefined ? {} : { items }) };
}

function formsOf(document: Json, read: Json): unknown[] {
  return [...listIn(read['anyOf']), ...listIn(read['oneOf'])].filter(
    (form) => resolved(document, form)['type'] !== 'null',
  );
}

function typeOf(document: Json, schema: unknown): string {
  const read = resolved(document, schema);
  const forms = formsOf(document, read);
  if (forms.length > 0) {
    const names = [...new Set(forms.map((form) => typeOf(document, form)))];
    const isNullable = forms.length < listIn(read['anyOf']).length + listIn(read['oneOf']).length;
    return [...names, ...(isNullable ? ['null'] : [])].join(' or ');
  }
  if (read['const'] !== undefined) return JSON.stringify(read['const']);
  const values = listIn(read['enum']);
  if (values.length > 0) return `one of ${values.map(String).join(', ')}`;
  if (read['items'] !== undefined) return `list of ${typeOf(document, read['items'])}`;
  const type = Array.isArray(read['type']) ? read['type'].join(' or ') : textIn(read['type']);
  const format = textIn(read['format']);
  const bounds = [boundOf(read, 'minimum', 'from'), boundOf(read, 'maximum', 'to')].filter(Boolean).join(' ');
  const name = type === '' ? 'object' : type;
  return [format === '' ? name : `${name}, ${format}`, bounds].filter(Boolean).join(' ');
}

/** Bounds that only restate the range of the number type are omitted. */
function boundOf(read: Json, name: 'minimum' | 'maximum', word: string): string {
  const bound = read[name];
  if (typeof bound !== 'number' || Math.abs(bound) >= 999_999_999) return '';
  return `${word} ${bound.toLocaleString('en-GB')}`;
}

/** The target of `$ref`, or the value itself. */
function resolved(document: Json, value: unknown): Json {
  const read = recordIn(value);
  const ref = read['$ref'];
  if (typeof ref !== 'string') return read;
  const found = ref
    .split('/')
    .slice(1)
    .reduce<unknown>((at, part) => recordIn(at)[part.replaceAll('~1', '/').replaceAll('~0', '~')], document);
  return {
    ...resolved(document, found),
    ...(read['description'] === undefined ? {} : { description: read['description'] }),
  };
}

function recordIn(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
