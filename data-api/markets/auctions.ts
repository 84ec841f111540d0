// GET /v1/fixed-income/auctions. Hides nothing: the handler reads from the parameters to the answer.
import { z } from 'zod';
import { fail } from '../../kernel/errors.ts';
import type { Handler } from '../../kernel/http/server.ts';
import {
  auctionFormats,
  auctionInstruments,
  auctionStatuses,
  tenor as readTenor,
} from '../../domain/markets.ts';
import { oneOfParam, parseQuery, readParam, windowOf, windowParams } from '../../kernel/http/params.ts';
import { auctionsList, auctionsWhere } from './auctions.sql.ts';
import type { Dependencies } from '../dependencies.ts';
import { listParams, sendList } from '../list.ts';

const tenorParam = readParam(readTenor, 'must be a tenor such as 13W, 3M or 10Y');

const auctionsQuery = z.object({
  instrument: oneOfParam(auctionInstruments).optional(),
  tenor: tenorParam.optional(),
  ...windowParams,
  status: oneOfParam(auctionStatuses).optional(),
  bidding: oneOfParam(auctionFormats).optional(),
  ...listParams(auctionsList),
  // Two meanings of one name: how the answer is written, and how bids were made. `bidding` goes with both.
  format: oneOfParam(['json', 'csv', ...auctionFormats]).default('json'),
});

/** GET /v1/fixed-income/auctions. */
export function getAuctions(dependencies: Dependencies): Handler {
  return async function getAuctions(request, response, call) {
    const { format, bidding, ...asked } = await call.stage('parse', () =>
      parseQuery(auctionsQuery, request.url),
    );
    const isBidding = format === 'competitive' || format === 'non_competitive';
    if (isBidding && bidding !== undefined && bidding !== format) {
      fail('invalid_parameter', '"format" and "bidding" contradict each other; one is enough.', {
        param: 'format',
      });
    }
    const { instrument, tenor, status } = asked;
    const where = auctionsWhere({
      instrument,
      tenor,
      ...windowOf(asked),
      status,
      format: isBidding ? format : bidding,
    });
    await sendList(request, response, call, dependencies, {
      list: auctionsList,
      asked: { ...asked, format: isBidding ? 'json' : format },
      where,
    });
  };
}
