// /dashboard/operator/plans: the limits and features of each plan, and its number of accounts. Plans are changed in config/plans.yml.
import { Link } from 'wouter-preact';
import { accountApi } from '../../api/clients.ts';
import { useLoad } from '../../api/use-load.ts';
import { rowsOf } from '../../api/rows.ts';
import { DataTable } from '../../components/data-table.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { featureText } from '../../text/features.ts';
import { numberText } from '../../text/numbers.ts';
import { WaitingOrSignIn, operatorPage } from './operator-page.tsx';

export const OperatorPlans = operatorPage(() => {
  const loaded = useLoad(
    async (signal) => rowsOf(await accountApi.get('/v1/operator/plans', { signal })),
    [],
  );
  return (
    <>
      <PageHead
        title="All plans"
        lede="The limits of each plan are in the file plans.yml of the installation."
      />
      <WaitingOrSignIn for={loaded} failure="The plans could not be loaded">
        {(plans) => (
          <DataTable
            caption="Plans"
            rows={plans}
            keyOf={({ id }) => id}
            columns={[
              { label: 'Plan', cell: ({ name }) => <b>{name}</b> },
              {
                label: 'Accounts',
                right: true,
                cell: ({ id, accounts }) => (
                  <Link href={`/dashboard/operator/accounts?plan=${id}`}>{numberText(accounts)}</Link>
                ),
              },
              {
                label: 'Calls a month',
                right: true,
                cell: ({ calls_month: calls }) => (calls === null ? 'unlimited' : numberText(calls)),
              },
              { label: 'Calls a second', right: true, cell: ({ calls_second: calls }) => numberText(calls) },
              {
                label: 'Features',
                cell: ({ features }) => (features.length === 0 ? '–' : features.map(featureText).join(', ')),
              },
            ]}
          />
        )}
      </WaitingOrSignIn>
    </>
  );
});
