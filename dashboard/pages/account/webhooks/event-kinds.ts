// The types of events, with a sample of each, from the OpenAPI document of this installation. Pure.

export interface EventKind {
  type: string;
  summary: string;
  /** The body of a request, as JSON. */
  sample: string;
}

/** The event types that an endpoint can choose; a test event is sent on request. @param document of `/v1/openapi.json`. */
export function eventKindsIn(document: unknown): EventKind[] {
  const webhooks = Object.entries(objectIn(document, 'webhooks'));
  return webhooks
    .filter(([type]) => type !== 'webhook.test')
    .map(([type, item]) => {
      const post = objectIn(item, 'post');
      const content = objectIn(objectIn(post, 'requestBody'), 'content');
      const json = objectIn(content, 'application/json');
      const { summary } = post;
      return {
        type,
        summary: typeof summary === 'string' ? summary : '',
        sample: JSON.stringify(sampleIn(json), null, 2),
      };
    });
}

/** `series`, `dataset`, … in the order of the types. */
export function prefixesOf(kinds: readonly EventKind[]): string[] {
  return [...new Set(kinds.map(({ type }) => type.split('.')[0] ?? ''))];
}

function sampleIn(json: Record<string, unknown>): unknown {
  if ('example' in json) return json['example'];
  const [first] = Object.values(objectIn(json, 'examples'));
  return objectIn({ first }, 'first')['value'];
}

function objectIn(value: unknown, name: string): Record<string, unknown> {
  const found: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  return typeof found === 'object' && found !== null ? { ...found } : {};
}
