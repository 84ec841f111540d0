// The statement about quota for /metrics.
import { QueryTypes } from 'sequelize';
import type { AccountsDatabase } from '../database.ts';

export interface BlockFigures {
  /** Blocks with calls left. */
  blocks: number;
  /** Granted, and neither reported as served nor returned yet. */
  calls: number;
}

/** The blocks that gateways hold. */
export function selectBlocks({ sequelize }: Pick<AccountsDatabase, 'sequelize'>): Promise<BlockFigures[]> {
  return sequelize.query(
    `select count(*)::int as blocks, coalesce(sum(granted - spent - returned), 0)::float8 as calls
     from accounts.quota_blocks where granted > spent + returned`,
    { type: QueryTypes.SELECT },
  );
}
