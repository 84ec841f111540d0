// The statements for the leases of gateways on cached credentials.
import { QueryTypes, type Sequelize } from 'sequelize';
import { credentialLeaseMs } from '../../kernel/credentials/cache.ts';
import { entryAt } from '../../kernel/entries.ts';

export interface LeaseRequest {
  /** Of one process; a gateway that starts again has another one. */
  gatewayId: string;
  heldIn: 'redis' | 'process';
  /** The generation that the gateway uses as it asks, and never an earlier one again; null: none. */
  using: number | null;
}

// A gateway's clock may run slower than PostgreSQL's: a lease counts as valid here for a little longer.
const clockMarginMs = 50;

/**
 * Leases the cached credentials of the current generation to a gateway for a while from now. The lock makes a new generation wait for
 * leases under way, so that whoever has begun one sees all leases on earlier ones. What a gateway says of itself is true whenever
 * it arrives; that it uses none may be out of date, and counts for nothing while an earlier lease lasts.
 * @returns the generation.
 */
export async function leaseGeneration(sequelize: Sequelize, request: LeaseRequest): Promise<number> {
  const { gatewayId, heldIn, using } = request;
  const rows = await sequelize.query<{ generation: number }>(
    `with cache as (select generation from accounts.credential_cache for share)
     insert into accounts.credential_leases as lease (gateway_id, held_in, generation, leased_until)
     select $1::uuid, $2, generation, clock_timestamp() + $3 * interval '1 ms' from cache
     on conflict (gateway_id) do update
     set generation = case when lease.leased_until + $5 * interval '1 ms' < clock_timestamp() then excluded.generation
                           else greatest(lease.generation, $4::bigint) end,
         leased_until = greatest(lease.leased_until, excluded.leased_until)
     returning (select generation from cache)::float8 as generation`,
    { bind: [gatewayId, heldIn, credentialLeaseMs[heldIn], using, clockMarginMs], type: QueryTypes.SELECT },
  );
  return entryAt(rows, 0).generation;
}

/** Ends the lease of a gateway that no longer uses any generation. */
export async function endLease(sequelize: Sequelize, gatewayId: string): Promise<void> {
  await sequelize.query('delete from accounts.credential_leases where gateway_id = $1', {
    bind: [gatewayId],
    type: QueryTypes.RAW,
  });
}

export interface LeaseRow {
  heldIn: 'redis' | 'process';
  /** The earliest generation that the gateway may still use. */
  generation: number;
  endsInMs: number;
}

/** The leases that have not ended. */
export function selectLeases(sequelize: Sequelize): Promise<LeaseRow[]> {
  return sequelize.query(
    `select held_in as "heldIn", generation::float8 as generation,
            (extract(epoch from leased_until - clock_timestamp()) * 1000 + $1)::float8 as "endsInMs"
     from accounts.credential_leases where leased_until + $1 * interval '1 ms' > clock_timestamp()`,
    { bind: [clockMarginMs], type: QueryTypes.SELECT },
  );
}
