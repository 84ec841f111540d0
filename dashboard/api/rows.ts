// The rows of a list. In the OpenAPI document every field of a row is optional, because of `fields`.
import type { AnswerOf, PathsWith } from '../../clients/typescript/client.ts';

/** A whole row of a list. */
export type Row<P extends PathsWith<'get'>> =
  AnswerOf<'get', P> extends { data: (infer Each)[] } ? Required<Each> : never;

/** The rows of a list requested without `fields`: every field is present. */
export function rowsOf<Each>({ data }: { data: Each[] }): Required<Each>[] {
  return data as Required<Each>[];
}
