// The declaration of an endpoint: its summary, parameters, answers and errors. Requests are validated by it, and the OpenAPI document and the
// parameter tables of docs/api.md are generated from it.
import type { Request } from 'express';
import { z } from 'zod';
import { fail, type ErrorCode } from '../errors.ts';
import { parseFields } from './fields.ts';
import { parseQuery } from './params.ts';

export interface Declaration {
  /** One line. */
  summary: string;
  /** Further details, in Markdown. */
  description?: string | undefined;
  /** The path parameters that need a description; any text is accepted. */
  params?: Readonly<Record<string, z.ZodType>> | undefined;
  query: z.ZodObject;
  /** The schema of the JSON body. */
  body?: z.ZodType | undefined;
  /** The body is a file. */
  acceptsFile?: boolean;
  /** The headers that it reads, besides the credentials. */
  requestHeaders?: Readonly<Record<string, z.ZodType>> | undefined;
  /** The answers, except 304, which every answer with an ETag can have. */
  answers: readonly DeclaredAnswer[];
  /** Errors besides those common to all endpoints. */
  errors: readonly ErrorCode[];
}

export interface DeclaredAnswer {
  status: number;
  description: string;
  /** Media type → schema; omitted if there is no body. */
  content?: Readonly<Record<string, z.ZodType>>;
  /** Headers that the answer may have, besides those of every answer. */
  headers?: readonly string[];
}

/** format → media type. */
export const mediaTypes = {
  json: 'application/json',
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  xml: 'text/xml',
  atom: 'application/atom+xml',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  ics: 'text/calendar',
  svg: 'image/svg+xml',
  png: 'image/png',
  bibtex: 'application/x-bibtex',
  csl: 'application/vnd.citationstyles.csl+json',
} as const;
export type Format = keyof typeof mediaTypes;

/** The values of `format` that name a media type; only JSON if the endpoint has no such parameter. */
export function formatsOf({ shape }: z.ZodObject): Format[] {
  const words = optionsOf(shape['format']);
  const formats = (Object.keys(mediaTypes) as Format[]).filter((format) => words.includes(format));
  return formats.length === 0 ? ['json'] : formats;
}

function optionsOf(schema: z.core.$ZodType | undefined): readonly unknown[] {
  if (schema instanceof z.ZodDefault) return optionsOf(schema.unwrap());
  return schema instanceof z.ZodEnum ? schema.options : [];
}

/**
 * The format that the Accept header prefers; the first one given if it has no preference.
 * @returns null if the header accepts none of them.
 */
export function negotiate(request: Request, formats: readonly Format[]): Format | null {
  const { accept } = request.headers;
  const [first = 'json'] = formats;
  if (accept === undefined || accept === '*/*') return first;
  const type = request.accepts(formats.map((format) => mediaTypes[format]));
  return type === false ? null : (formats.find((format) => mediaTypes[format] === type) ?? first);
}

/**
 * Reads the JSON body of a read, whose fields are its parameters, like `readQuery` reads a query. @throws Failure `invalid_body`, `not_acceptable`.
 */
export function readFields<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  request: Request,
  accepted: Format | null,
  formats: readonly Format[],
): z.output<z.ZodObject<Shape>> {
  parseQuery(z.object({}), request.url);
  const fields = parseFields(schema, request, accepted === null ? {} : { format: accepted });
  const isNamed = Object.hasOwn(request.body as object, 'format');
  return accepted === null && !isNamed ? refuseTypes(formats) : fields;
}

/**
 * Reads the query of a request; `format` defaults to what the Accept header prefers.
 * @throws Failure `invalid_parameter`; `not_acceptable` if neither the URL nor the header names an available format.
 */
export function readQuery<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  request: Request,
  accepted: Format | null,
  formats: readonly Format[] = formatsOf(schema),
): z.output<z.ZodObject<Shape>> {
  const hasFormat = Object.hasOwn(schema.shape, 'format');
  if (accepted !== null) return parseQuery(schema, request.url, hasFormat ? { format: accepted } : {});
  if (hasFormat && /[?&]format=/.test(request.url)) return parseQuery(schema, request.url);
  return refuseTypes(formats);
}

function refuseTypes(formats: readonly Format[]): never {
  const types = formats.map((format) => mediaTypes[format]);
  return fail(
    'not_acceptable',
    `This endpoint answers with ${types.join(' or ')}, which the Accept header does not allow.`,
  );
}
