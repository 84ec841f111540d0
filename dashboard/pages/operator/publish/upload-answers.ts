// The API's answers about an upload.
import type { AnswerOf } from '../../../../clients/typescript/client.ts';

export type Upload = AnswerOf<'get', '/v1/operator/uploads/{id}'>['data'];
export type Table = Upload['tables'][number];
export type Publication = AnswerOf<'post', '/v1/operator/uploads/{id}/publication'>['data'];
