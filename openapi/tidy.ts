// Removes from the library's document what zod emits and readers of OpenAPI do not need.

export type Json = string | number | boolean | null | Json[] | JsonObject;
type JsonObject = { [name: string]: Json };

/**
 * Removes limits that only mean "a safe integer", patterns that repeat a format, `additionalProperties: false` from answers
 * (which may get more fields, unlike strict bodies), and descriptions repeated in the schema of a parameter. Sets the style of
 * comma-separated arrays.
 */
export function tidy(document: Json): Json {
  return tidied(document, false);
}

function tidied(value: Json, isSent: boolean): Json {
  if (Array.isArray(value)) return value.map((item) => tidied(item, isSent));
  if (!isObject(value)) return value;
  const shown: JsonObject = {};
  for (const [name, member] of Object.entries(value)) {
    if (isNoise(name, member, value, isSent)) continue;
    shown[name] = tidied(member, isSent || name === 'responses' || name === 'components');
  }
  const { schema } = shown;
  return 'in' in shown && isObject(schema) ? tidiedParameter(shown, schema) : shown;
}

/** Moves the description from the schema to the parameter. */
function tidiedParameter(parameter: JsonObject, schema: JsonObject): JsonObject {
  const { description = '', 'x-separator': separator, ...kind } = schema;
  const style: JsonObject = separator === undefined ? {} : { style: 'form', explode: false };
  return { description, ...parameter, ...style, schema: kind };
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isNoise(name: string, member: Json, owner: JsonObject, isSent: boolean): boolean {
  if (name === 'lengthMax' && 'type' in owner) return true;
  if (name === 'maximum' || name === 'minimum') return Math.abs(Number(member)) === Number.MAX_SAFE_INTEGER;
  if (name === 'pattern') return typeof owner['format'] === 'string';
  return name === 'additionalProperties' && isSent && member === false;
}
