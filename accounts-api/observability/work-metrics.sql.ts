// The statement about quota blocks for /metrics.
import { QueryTypes } from 'sequelize';
import type { AccountsDatabase } from '../database.ts';

export interface BlockFigures {
  /** Blocks with unused calls. */
  blocks: number;
  /** Granted calls that are neither reported as served nor returned yet. */
  calls: number;
}

/** The figures of the blocks granted to gateways. */
export function selectBlocks({ sequelize }: Pick<AccountsDatabase, 'sequelize'>): Promise<BlockFigures[]> {
  return sequelize.query(
    `select count(*)::int as blocks, coalesce(sum(granted - spent - returned), 0)::float8 as calls
     from accounts.quota_blocks where granted > spent + returned`,
    { type: QueryTypes.SELECT },
  );
}
