// Parses the JSON body of a read by the schema of query parameters, so that a parameter is declared once for both. Every error names the field.
import type { Request } from 'express';
import { z } from 'zod';
import { Failure, fail, refuseField } from '../errors.ts';
import { parseGiven, printable } from './params.ts';

type JsonType = z.output<typeof describedField>['type'];

/** The rule for a field of each type. */
const rules: Readonly<Record<JsonType, string>> = {
  string: 'must be a text',
  integer: 'must be a whole number',
  number: 'must be a number',
  boolean: 'must be true or false',
  array: 'must be a list of texts',
};

/**
 * Reads the fields of a body by a schema whose keys are the known fields. @param unless the values of fields that the body omits.
 * @throws Failure `invalid_body`, which names the field: unknown, of another type than in the OpenAPI document, or with a value that is not allowed.
 */
export function parseFields<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  { body }: Pick<Request, 'body'>,
  unless: Readonly<Record<string, string>> = {},
): z.output<z.ZodObject<Shape>> {
  const sent: unknown = body;
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent))
    return fail('invalid_body', 'The body must be a JSON object.');
  try {
    const known = new Map(Object.entries(schema.shape));
    const given = Object.entries(sent).flatMap(([name, value]) => textsOf(name, value, known.get(name)));
    return parseGiven(schema, given, unless);
  } catch (error) {
    throw ofBody(error);
  }
}

/** Converts an error about a parameter into one about a field of the body. */
export function ofBody(error: unknown): unknown {
  if (!(error instanceof Failure) || error.code !== 'invalid_parameter') return error;
  const { message, param } = error;
  return new Failure('invalid_body', message, { param });
}

/** The field in the form of a URL parameter, once for each value of a repeatable one. */
function textsOf(name: string, value: unknown, schema: z.core.$ZodType | undefined): [string, string][] {
  if (schema === undefined) return [[name, '']]; // unknown, and refused later
  const { type, separator } = fieldOf(schema);
  if (!isOf(type, value)) throw new Failure('invalid_body', `"${name}" ${rules[type]}.`, { param: name });
  if (!Array.isArray(value)) return [[name, String(value)]];
  const texts = value as readonly string[];
  if (texts.length === 0) return [[name, '']];
  if (separator === undefined) return texts.map((text) => [name, text]);
  const without = texts.find((text) => text.includes(separator));
  if (without !== undefined)
    refuseField(name, `"${name}" has "${printable(without)}": one entry for each value.`);
  return [[name, texts.join(separator)]];
}

function isOf(type: JsonType, value: unknown): boolean {
  if (type === 'array') return Array.isArray(value) && value.every((each) => typeof each === 'string');
  return type === 'integer' ? Number.isInteger(value) : typeof value === type;
}

interface Field {
  type: JsonType;
  /** Separates the values of a list in a URL; undefined: the parameter is repeated. */
  separator?: string | undefined;
}

const describedField = z.object({
  type: z.enum(['string', 'integer', 'number', 'boolean', 'array']),
  'x-separator': z.string().optional(),
});

/** The field's type according to the OpenAPI document. */
function fieldOf(schema: z.core.$ZodType): Field {
  const { data: described } = describedField.safeParse(z.globalRegistry.get(schema)?.['override']);
  if (described !== undefined) return { type: described.type, separator: described['x-separator'] };
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault)
    return fieldOf((schema as z.ZodOptional).unwrap());
  if (schema instanceof z.ZodPipe) return fieldOf(schema.in);
  return { type: schema instanceof z.ZodArray ? 'array' : 'string' };
}
