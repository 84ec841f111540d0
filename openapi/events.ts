// The published catalogue of events: the `webhooks` of the document, and the sections of docs/events.md between
// `<!-- events -->` and `<!-- end -->`. Both are made from kernel/events/catalogue.ts.
import { z } from 'zod';
import type { ZodOpenApiPathItemObject } from 'zod-openapi';
import { eventKinds, eventTypes, type EventType } from '../kernel/events/catalogue.ts';
import { tidy, type Json } from './tidy.ts';

interface FieldSchema {
  type?: string;
  format?: string;
  description?: string;
  enum?: string[];
  anyOf?: FieldSchema[];
  maxItems?: number;
}

const headers = z.object({
  'webhook-id': z
    .string()
    .describe('The id of the message, the same on every retry: ignore a message that you already have.'),
  'webhook-timestamp': z.string().describe('When this attempt was signed: seconds since 1970.'),
  'webhook-signature': z.string().describe('Signatures, divided by blanks: `v1,` and Base64 each.'),
});

/** The `webhooks` of the document: the request that an endpoint receives, for each type of event. */
export function eventWebhooks(): Record<string, ZodOpenApiPathItemObject> {
  return Object.fromEntries(eventTypes.map((type) => [type, { post: operationOf(type) }]));
}

function operationOf(type: EventType): NonNullable<ZodOpenApiPathItemObject['post']> {
  const { summary, data } = eventKinds[type];
  const body = z.object({
    type: z.literal(type),
    timestamp: z.iso.datetime({ precision: 0 }).describe('When it happened.'),
    data,
  });
  return {
    operationId: `event${type.split(/[._]/).map(capitalised).join('')}`,
    summary,
    description: `${summary} ${concerned(type)}`,
    tags: ['Webhooks'],
    security: [],
    requestParams: { header: headers },
    requestBody: {
      required: true,
      content: { 'application/json': { schema: body, example: sampleBody(type) } },
    },
    responses: {
      '2XX': { description: 'The endpoint has received it.' },
      '4XX': { description: 'It has not, as with any other status: the message is sent again later.' },
    },
  };
}

const block = /<!-- events -->\n[^]*?<!-- end -->/g;

/** The page with its catalogue updated from the code. */
export function withEvents(page: string): string {
  return page.replaceAll(
    block,
    () => `<!-- events -->\n${eventTypes.map(sectionOf).join('\n')}\n<!-- end -->`,
  );
}

function sectionOf(type: EventType): string {
  const { summary, data } = eventKinds[type];
  const schema = tidy(z.toJSONSchema(data, { io: 'input' }) as Json) as Json & {
    properties: Record<string, FieldSchema>;
  };
  const rows = Object.entries(schema.properties).map(
    ([name, field]) => `| \`${name}\` | ${wordsOf(field)} | ${field.description ?? ''} |`,
  );
  return `### \`${type}\`

${summary} ${concerned(type)}

| field of \`data\` | value | meaning |
|---|---|---|
${rows.join('\n')}

${fence(sampleBody(type))}

<details><summary>JSON Schema of <code>data</code></summary>

${fence(schema)}

</details>
`;
}

function concerned(type: EventType): string {
  const { of } = eventKinds[type];
  if (of === 'operators') return 'Sent to accounts with the role operator.';
  return of === 'account' ? 'Sent to the account.' : 'Sent to every account.';
}

function sampleBody(type: EventType) {
  const { sample } = eventKinds[type];
  return {
    type,
    timestamp: 'published_at' in sample ? sample.published_at : '2026-11-16T12:30:04Z',
    data: sample,
  };
}

const fence = (value: unknown) => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;

function wordsOf({ type, format, enum: words, anyOf, maxItems }: FieldSchema): string {
  if (anyOf !== undefined) return anyOf.map(wordsOf).join(' or ');
  if (words !== undefined) return words.map((word) => `\`${word}\``).join(', ');
  if (type === 'null') return 'null';
  if (type === 'integer') return 'a whole number';
  if (type === 'array') return maxItems === undefined ? 'texts' : `1 to ${maxItems} ids`;
  return { date: 'a date', 'date-time': 'an instant in UTC' }[format ?? ''] ?? 'text';
}

const capitalised = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);
