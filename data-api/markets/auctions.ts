// GET /v1/fixed-income/auctions: auction results.
import { refuseParam } from '../../kernel/errors.ts';
import {
  auctionFormats,
  auctionInstruments,
  auctionStatuses,
  tenor as readTenor,
} from '../../domain/markets.ts';
import { oneOfParam, readParam, windowOf, windowParams } from '../../kernel/http/params.ts';
import { auctionsList, auctionsWhere } from './auctions.sql.ts';
import { endpoint } from '../endpoint.ts';
import { listReply, paramsWithUpdates, schemaOf } from '../list.ts';

const tenorParam = readParam(readTenor, 'must be a tenor such as 13W, 3M or 10Y');

export const getAuctions = endpoint({
  summary: 'Auctions of government debt, from the announcement on.',
  query: {
    ...windowParams,
    ...paramsWithUpdates(auctionsList, {
      instrument: oneOfParam(auctionInstruments),
      tenor: tenorParam.describe('`3M`, `13W`, `10Y`, `9Y10M`; `3-Month` is read as `3M`.'),
      status: oneOfParam(auctionStatuses),
      bidding: oneOfParam(auctionFormats).describe('How bids were made; can be combined with `format=csv`.'),
    }),
    // The name has two meanings: the format of the answer, and how bids were made. `bidding` can be combined with both.
    format: oneOfParam(['json', 'csv', ...auctionFormats])
      .default('json')
      .describe('The format of the answer, or how bids were made.'),
  },
  json: schemaOf(auctionsList),
  handler: (dependencies, { query, call }) => {
    const { format, bidding } = query;
    const isBidding = format === 'competitive' || format === 'non_competitive';
    if (isBidding && bidding?.some((word) => word !== format)) {
      refuseParam('format', '"format" and "bidding" contradict each other; one is enough.');
    }
    const asked = isBidding ? [format] : bidding;
    const where = auctionsWhere({ ...query, ...windowOf(query), format: asked });
    const written = isBidding ? 'json' : format;
    return listReply(dependencies, call, {
      list: auctionsList,
      query: { ...query, format: written },
      where,
    });
  },
});
