import test from 'ava';
import fc from 'fast-check';
import { closeAfterMs } from '../../kernel/heartbeat/times.ts';
import { closeBlock, grantOf, isActiveEverywhere, mayClose, outOf, applyReport } from './block-rules.ts';

const calls = fc.nat(2_000);
const months = fc
  .record({ used: calls, others: calls, granted: calls, spent: calls, returned: calls })
  .map((drawn) => {
    const block = {
      granted: drawn.granted + drawn.spent + drawn.returned,
      spent: drawn.spent,
      returned: drawn.returned,
    };
    return { block, month: { used: drawn.used + drawn.spent, out: drawn.others + drawn.granted } };
  });

test('a grant never exceeds the rest, covers the missing calls as far as possible, and is never made twice', (t) => {
  fc.assert(
    fc.property(
      months,
      calls,
      calls,
      fc.integer({ min: 1, max: 500 }),
      calls,
      fc.integer({ min: 1, max: 5 }),
      (state, limit, has, lacks, ahead, gateways) => {
        const { month, block } = state;
        const want = { has: Math.min(has, block.granted), calls: lacks, ahead };
        const { added, isToRecall } = grantOf(month, block, { limit, gateways }, want);
        const rest = Math.max(0, limit - month.used - month.out);
        const lacking = Math.max(0, want.calls - (block.granted - want.has));
        const after = {
          month: { ...month, out: month.out + added },
          block: { ...block, granted: block.granted + added },
        };
        const again = grantOf(after.month, after.block, { limit, gateways }, want);
        return (
          added >= Math.min(lacking, rest) &&
          added <= rest &&
          (lacking > 0 || added === 0) &&
          (!isToRecall || lacking > rest) &&
          (lacking > rest || again.added === 0)
        );
      },
    ),
  );
  t.pass();
});

test('whatever is reported, a month counts every reported call as used, and frees at most the unused granted calls', (t) => {
  fc.assert(
    fc.property(months, calls, calls, (state, served, returned) => {
      const { month, block } = applyReport(state.month, state.block, { calls: served, returned });
      if (block === null) return false;
      const freed = outOf(state.block) - outOf(block);
      return (
        month.used === state.month.used + served &&
        outOf(block) >= 0 &&
        month.out === state.month.out - freed &&
        freed === Math.min(outOf(state.block), served + returned) &&
        closeBlock(month, block).out === state.month.out - outOf(state.block)
      );
    }),
  );
  t.pass();
});

test('a change is active when the leases of all gateways that have not seen it have ended', (t) => {
  const gateways = [
    { seen: 5, leasedUntilMs: 1_000 },
    { seen: 4, leasedUntilMs: 500 },
  ];
  t.deepEqual(
    [
      isActiveEverywhere(4, gateways, 0),
      isActiveEverywhere(5, gateways, 499),
      isActiveEverywhere(5, gateways, 500),
    ],
    [true, false, true],
  );
  t.deepEqual(
    [
      isActiveEverywhere(6, gateways, 999),
      isActiveEverywhere(6, gateways, 1_000),
      isActiveEverywhere(6, [], 0),
    ],
    [false, true, true],
  );
});

test('a life is closed two minutes after the end of its lease, and stays closed', (t) => {
  const at = (nowMs: number) => mayClose({ leasedUntilMs: 1_000 }, nowMs);
  t.deepEqual([at(1_000 + closeAfterMs), at(1_001 + closeAfterMs)], [false, true]);
  t.true(mayClose({ leasedUntilMs: -Infinity }, 0));
});
