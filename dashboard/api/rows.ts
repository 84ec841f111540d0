// The rows of a list. Hides that the document has every field of a row optional, for the sake of `fields`.
import type { AnswerOf, PathsWith } from '../../clients/typescript/client.ts';

/** A whole row of a list. */
export type Row<P extends PathsWith<'get'>> =
  AnswerOf<'get', P> extends { data: (infer Each)[] } ? Required<Each> : never;

/** The rows of a list that was asked for without `fields`: none of their fields is missing. */
export function rowsOf<Each>({ data }: { data: Each[] }): Required<Each>[] {
  return data as Required<Each>[];
}
