// What /v1/operator/uploads takes and answers.
import { z } from 'zod';
import type { Upload } from '../publisher/uploads/uploads.sql.ts';
import { instantText } from '../../kernel/clock.ts';
import { tableEnding, tableEndings } from '../files/file-kind.ts';

const findingSchema = z.object({
  path: z.string().describe('A key of the entry, such as `series.unit`.'),
  value: z.string(),
  evidence: z.string(),
});

const tableSchema = z.object({
  table: z.int().min(0).describe('Its number, from 0.'),
  sheet: z.string().nullable().describe('Of a workbook; null: its first, or the file is none.'),
  lines_read: z.int().min(0).describe('To find out: all, or the first fifty thousand.'),
  sure: z.array(findingSchema),
  guesses: z.array(findingSchema),
  skip: z.string().nullable().describe('Why it is no table that can be published; null: it is one.'),
  entry: z.string().describe('Its entry of almanac.yml, as YAML.'),
  sample: z.array(z.array(z.string())).describe('The first ten lines.'),
});

export const uploadRowSchema = z.object({
  id: z.string(),
  name: z.string(),
  publication: z.string(),
  bytes: z.int(),
  sha256: z.string(),
  account: z.string().describe('The account of the operator who sent it.'),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().describe('It is deleted then.'),
  published: z.array(z.int()).describe('The tables of it that were published.'),
});

export const uploadSchema = uploadRowSchema.extend({ tables: z.array(tableSchema) });

export function rowOf(upload: Upload): z.output<typeof uploadRowSchema> {
  const { id, name, publication, bytes, sha256, accountId, createdAt, expiresAt, published } = upload;
  return {
    ...{ id, name, publication, bytes, sha256, account: accountId, published },
    created_at: instantText(createdAt),
    expires_at: instantText(expiresAt),
  };
}

export const uploadOf = (upload: Upload): z.output<typeof uploadSchema> => ({
  ...rowOf(upload),
  tables: z.array(tableSchema).parse(upload.tables),
});

/** A label, of which the ending and a date in it say how the file is read. */
export const nameParam = z
  .string()
  .min(1, 'must not be empty')
  .max(200, 'must have at most 200 characters')
  .regex(
    /^[^/\\\p{C}\p{Zl}\p{Zp}]+$/u,
    'must be the name of a file, without a folder and without control characters',
  )
  .refine((name) => !name.startsWith('.'), 'must not begin with a dot')
  .refine((name) => tableEnding.test(name), `must end with one of ${tableEndings.join(', ')}`);

export const publicationParam = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$/, 'letters, digits and . _ - are allowed, at most 80');
