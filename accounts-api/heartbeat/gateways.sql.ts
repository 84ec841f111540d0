// The statements about the lives of gateways: their leases and their end.
import { QueryTypes, type Transaction } from 'sequelize';
import { leaseMs } from '../../kernel/heartbeat/times.ts';
import type { AccountsDatabase } from '../database.ts';
import type { Gateway } from './block-rules.ts';

// A gateway's clock may run slower than PostgreSQL's, so a lease stays valid here for a little longer.
const clockMarginMs = 50;

export interface Lease {
  /** The number of the last change. */
  upto: number;
  /** How long the lease lasts; negative: it has ended. */
  leaseMs: number;
  /** The number of lives with a lease. */
  gateways: number;
  /** Whether some of its blocks are recalled. */
  isRecalled: boolean;
}

// The lock makes a change wait for concurrent grants of leases, so that a committed change sees every lease granted before it.
const counter = 'with counter as materialized (select no from accounts.change_counter for share)';
const answered = `(select no from counter)::float8 as upto,
  floor(extract(epoch from gateway.leased_until - clock_timestamp()) * 1000 - $4::float8)::float8 as "leaseMs",
  (select count(*) + 1 from accounts.gateways as other where life <> $1 and leased_until > clock_timestamp())::int as gateways,
  exists (select from accounts.quota_blocks where life = $1 and recalled) as "isRecalled"`;

/**
 * Grants a life its lease. A late message reverts nothing: changes that the gateway has seen remain seen. If there are changes that the life has not
 * seen, its lease is extended only by a message that acknowledges some: perhaps it does not receive the answers, and writers wait for its end.
 * @param begins whether the life may be created. It then caches nothing older than the last change.
 * @returns null if the life does not exist or is closed.
 */
export async function lease(
  { sequelize }: AccountsDatabase,
  { life, seen, begins }: { life: string; seen: number; begins: boolean },
): Promise<Lease | null> {
  const changed = `seen = greatest(gateway.seen, $2),
    leased_until = case when $2 > gateway.seen or $2 >= (select no from counter)
      then greatest(gateway.leased_until, clock_timestamp() + ($3::float8 + $4::float8) * interval '1 ms') else gateway.leased_until end`;
  const statement = begins
    ? `insert into accounts.gateways as gateway (life, seen, leased_until)
       select $1::uuid, no, clock_timestamp() + ($3::float8 + $4::float8) * interval '1 ms' from counter
       on conflict (life) do update set ${changed} where gateway.leased_until > '-infinity'`
    : `update accounts.gateways as gateway set ${changed} from counter
       where life = $1 and gateway.leased_until > '-infinity'`;
  const rows = await sequelize.query<Lease>(`${counter} ${statement} returning ${answered}`, {
    bind: [life, seen, leaseMs, clockMarginMs],
    type: QueryTypes.SELECT,
  });
  return rows[0] ?? null;
}

/** The lives without a lease, which may be closed. */
export async function selectUnleased({ sequelize }: AccountsDatabase): Promise<string[]> {
  const rows = await sequelize.query<{ life: string }>(
    'select life from accounts.gateways where leased_until < clock_timestamp() order by leased_until limit 500',
    { type: QueryTypes.SELECT },
  );
  return rows.map(({ life }) => life);
}

export interface LifeRow extends Pick<Gateway, 'leasedUntilMs'> {
  life: string;
  nowMs: number;
}

/** Locks lives, so that they get no block. @param skipsLocked skips those that another transaction has locked. */
export function lockLives(
  { sequelize }: AccountsDatabase,
  transaction: Transaction,
  lives: readonly string[],
  skipsLocked: boolean,
): Promise<LifeRow[]> {
  return sequelize.query(
    `select life, extract(epoch from leased_until)::float8 * 1000 as "leasedUntilMs",
            extract(epoch from clock_timestamp())::float8 * 1000 as "nowMs"
     from accounts.gateways where life = any($1::uuid[]) order by life for update ${skipsLocked ? 'skip locked' : ''}`,
    { bind: [lives], type: QueryTypes.SELECT, transaction },
  );
}

/** Deletes lives; those that still have blocks are closed. */
export async function deleteLives(
  { sequelize }: AccountsDatabase,
  transaction: Transaction,
  lives: readonly string[],
): Promise<void> {
  await sequelize.query(
    `with gone as (
       delete from accounts.gateways as gateway where life = any($1::uuid[])
         and not exists (select from accounts.quota_blocks as block where block.life = gateway.life)
     )
     update accounts.gateways as gateway set leased_until = '-infinity' where life = any($1::uuid[])
       and exists (select from accounts.quota_blocks as block where block.life = gateway.life)`,
    { bind: [lives], type: QueryTypes.RAW, transaction },
  );
}
