// GET /v1/bulk: the bulk files, each with its checksum and the data version that it contains.
import { z } from 'zod';
import { bulkFileSchema, bulkKinds } from '../../domain/bulk/manifest.ts';
import { nameId } from '../../domain/name-id.ts';
import { listOf, rowOf } from '../../kernel/http/list.ts';
import { oneOfParam } from '../../kernel/http/params.ts';
import { cachedListParams, cachedListReply } from '../discovery/cached-list.ts';
import { endpoint } from '../endpoint.ts';
import { readCurrentFiles } from './files.ts';

const rowSchema = bulkFileSchema.extend({
  url: z.url().describe('The URL of the file, valid until the file is deleted.'),
});

const { params, bounded } = cachedListParams({
  shape: rowSchema.shape,
  sorts: ['name', 'kind', 'load', 'created_at', 'bytes', 'rows'],
  sort: 'name',
  filters: {
    source: z.string().describe('The id or the name of a source, as in `/v1/sources`.'),
    kind: oneOfParam(bulkKinds).describe('Newest values, or all vintages.'),
  },
});

export const getBulk = endpoint({
  summary: 'The bulk files: all series, and those of each source, as Parquet.',
  query: params,
  json: listOf(rowOf(rowSchema)),
  errors: ['plan_required', 'not_available_as_of', 'not_found', 'unavailable'],
  handler: async (dependencies, { query, call }) => {
    const files = await call.stage('lookup', () => readCurrentFiles(dependencies, call));
    const { source, kind } = query;
    const rows = files
      .filter((file) => kind?.includes(file.kind) ?? true)
      .filter(
        ({ source: name }) =>
          source === undefined ||
          (name !== null && [name, nameId(name)].some((each) => source.includes(each))),
      )
      .map(({ state: _state, as_of: _day, ...file }) => ({
        ...{ id: file.name, ...file },
        url: `${dependencies.publicUrl}/v1/bulk/${file.name}`,
      }));
    // Files are written some time after their load, so gateways must not cache this answer until the next load.
    call.changesAt(dependencies.clock.now().getTime());
    const newest = Math.max(...files.map(({ created_at }) => Date.parse(created_at)));
    const changedAt = files.length === 0 ? null : new Date(newest);
    const cached = { value: rows, untilMs: Infinity, changedAt };
    return cachedListReply(dependencies, call, { name: 'bulk', rows, query, cached, bounded });
  },
});
