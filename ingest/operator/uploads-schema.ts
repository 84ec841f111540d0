// The request and response schemas of /v1/operator/uploads.
import { z } from 'zod';
import { foundTableSchema } from '../publisher/uploads/found-table.ts';
import type { Upload } from '../publisher/uploads/uploads.sql.ts';
import { instantText } from '../../kernel/clock.ts';
import { tableEnding, tableEndings } from '../read/file-kind.ts';

export const uploadRowSchema = z.object({
  id: z.string(),
  name: z.string(),
  publication: z.string(),
  bytes: z.int(),
  sha256: z.string(),
  account: z.string().describe('The account of the operator who sent it.'),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().describe('When the upload is deleted.'),
  published: z.array(z.int()).describe('The numbers of its tables that were published.'),
});

export const uploadSchema = uploadRowSchema.extend({ tables: z.array(foundTableSchema) });

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
  tables: z.array(foundTableSchema).parse(upload.tables),
});

/** A label; its extension and a date in it determine how the file is read. */
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
