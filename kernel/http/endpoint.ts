// The declaration of an endpoint: its summary, parameters, answers and errors. The checks of a request, the OpenAPI document and
// the parameter tables of docs/api.md are derived from it.
// Hides how the Accept header becomes the parameter `format`.
import type { Request } from 'express';
import { z } from 'zod';
import { fail, type ErrorCode } from '../errors.ts';
import { parseQuery } from './params.ts';

export interface Declaration {
  /** One line, as in a table of contents. */
  summary: string;
  /** What the summary has no room for, in Markdown. */
  description?: string | undefined;
  /** The parameters of the path that deserve a word; any text is taken. */
  params?: Readonly<Record<string, z.ZodType>> | undefined;
  query: z.ZodObject;
  /** Of a request that carries JSON. */
  body?: z.ZodType | undefined;
  /** Headers that it heeds, beside the credentials. */
  requestHeaders?: Readonly<Record<string, z.ZodType>> | undefined;
  /** Without 304, which every answer with an ETag may become. */
  answers: readonly DeclaredAnswer[];
  /** What it refuses, beside what every endpoint refuses. */
  errors: readonly ErrorCode[];
}

export interface DeclaredAnswer {
  status: number;
  description: string;
  /** Media type → what is sent; none: no body. */
  content?: Readonly<Record<string, z.ZodType>>;
  /** Names of the headers that it may carry, beside those of every answer. */
  headers?: readonly string[];
}

/** format → media type. */
export const mediaTypes = { json: 'application/json', csv: 'text/csv', ics: 'text/calendar' } as const;
export type Format = keyof typeof mediaTypes;

/** The values of `format` that name a media type; JSON alone where the endpoint has no such parameter. */
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
 * The format that the Accept header prefers, the first of those given where it has no preference.
 * @returns null where it allows none of them.
 */
export function negotiate(request: Request, formats: readonly Format[]): Format | null {
  const { accept } = request.headers;
  const [first = 'json'] = formats;
  if (accept === undefined || accept === '*/*') return first;
  const type = request.accepts(formats.map((format) => mediaTypes[format]));
  return type === false ? null : (formats.find((format) => mediaTypes[format] === type) ?? first);
}

/**
 * The query of a request; `format` is what the Accept header prefers where the URL does not say it.
 * @throws Failure `invalid_parameter`; `not_acceptable` where neither URL nor header asks for a format that there is.
 */
export function readQuery<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  request: Request,
  accepted: Format | null,
): z.output<z.ZodObject<Shape>> {
  const hasFormat = Object.hasOwn(schema.shape, 'format');
  if (accepted !== null) return parseQuery(schema, request.url, hasFormat ? { format: accepted } : {});
  if (hasFormat && /[?&]format=/.test(request.url)) return parseQuery(schema, request.url);
  const types = formatsOf(schema).map((format) => mediaTypes[format]);
  return fail(
    'not_acceptable',
    `This endpoint answers with ${types.join(' or ')}, which the Accept header does not allow.`,
  );
}
