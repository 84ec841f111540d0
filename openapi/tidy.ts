// Removes parts from the library's document that zod emits and readers of OpenAPI do not need.

export type Json = string | number | boolean | null | Json[] | JsonObject;
type JsonObject = { [name: string]: Json };

/**
 * Removes limits that only mean "a safe integer", patterns that repeat a format, `additionalProperties: false` from answers
 * (which may get more fields, unlike strict bodies), and descriptions repeated in the schema of a parameter. Sets the style of
 * comma-separated arrays of parameters.
 */
export function tidy(document: Json): Json {
  return tidied(document, 'parameters');
}

/** Where a schema is. */
type Place = 'parameters' | 'body' | 'answers';
const places: Readonly<Record<string, Place>> = {
  requestBody: 'body',
  responses: 'answers',
  components: 'answers',
};

function tidied(value: Json, place: Place): Json {
  if (Array.isArray(value)) return value.map((item) => tidied(item, place));
  if (!isObject(value)) return value;
  const shown: JsonObject = {};
  for (const [name, member] of Object.entries(value)) {
    if (isNoise(name, member, value, place)) continue;
    shown[name] = tidied(member, place === 'parameters' ? (places[name] ?? place) : place);
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

function isNoise(name: string, member: Json, owner: JsonObject, place: Place): boolean {
  if (name === 'lengthMax' && 'type' in owner) return true;
  if (name === 'maximum' || name === 'minimum') return Math.abs(Number(member)) === Number.MAX_SAFE_INTEGER;
  if (name === 'pattern') return typeof owner['format'] === 'string';
  if (name === 'x-separator') return place === 'body'; // a list of JSON
  return name === 'additionalProperties' && place === 'answers' && member === false;
}
