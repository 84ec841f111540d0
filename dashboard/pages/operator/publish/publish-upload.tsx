// /dashboard/operator/publish/:id: the tables detected in an uploaded file, which are checked and published here. The URL names the table.
import { useState } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { accountApi } from '../../../api/clients.ts';
import { shownIn, useLoad } from '../../../api/use-load.ts';
import { Problem, useAction } from '../../../components/forms/action.tsx';
import { PageHead } from '../../../components/page-head.tsx';
import { Tabs } from '../../../components/tabs.tsx';
import { useSearchParams } from '../../../components/use-query.ts';
import { bytesText } from '../../../text/amounts.ts';
import { instantText } from '../../../text/times.ts';
import '../../../styles/publish.css';
import { WaitingOrSignIn, operatorPage } from '../operator-page.tsx';
import type { Publication, Table, Upload } from './upload-answers.ts';
import { Published } from './published.tsx';
import { TableSteps } from './table-steps.tsx';

export const OperatorUpload = operatorPage(({ params: { id = '' } }) => {
  const loaded = useLoad(
    async (signal) => (await accountApi.get('/v1/operator/uploads/{id}', { path: { id }, signal })).data,
    [id],
  );
  const upload = shownIn(loaded);
  const [publications, setPublications] = useState<Publications>(new Map());
  // The upload is deleted when its last table is published.
  const isUsed = upload?.tables.every(({ table }) => publications.has(table) || upload.published.includes(table)); // prettier-ignore
  return (
    <>
      <PageHead
        title={upload?.name ?? 'Publish a file'}
        crumb={<Link href="/dashboard/operator/publish">Publish a file</Link>}
        lede={
          upload &&
          `${bytesText(upload.bytes)}${isUsed === true ? '' : `, kept until ${instantText(upload.expires_at)} UTC`}.`
        }
        actions={isUsed === false && <Discard id={id} />}
      />
      <WaitingOrSignIn for={loaded} failure="The file could not be loaded">
        {(shown) => (
          <Tables
            upload={shown}
            publications={publications}
            onPublished={(table, done) => setPublications((before) => new Map(before).set(table, done))}
          />
        )}
      </WaitingOrSignIn>
    </>
  );
});

/** The tables published while the page is open, by number. */
type Publications = ReadonlyMap<number, Publication>;

interface TablesProps {
  upload: Upload;
  publications: Publications;
  onPublished: (table: number, publication: Publication) => void;
}

function Tables({ upload, publications, onPublished }: TablesProps) {
  const [params, setParams] = useSearchParams();
  const { id, tables } = upload;
  const table = tables.find((each) => String(each.table) === params.get('table')) ?? tables[0];
  const publication = table === undefined ? undefined : publications.get(table.table);
  const content = () => {
    if (table === undefined) return <p class="sm">No table was found in the file.</p>;
    if (publication !== undefined) return <Published publication={publication} />;
    if (upload.published.includes(table.table))
      return (
        <p class="sm">
          This table is already published. <Link href="/dashboard/operator/loads">All loads</Link>
        </p>
      );
    return (
      <TableSteps
        key={table.table}
        upload={id}
        table={table}
        onPublished={(done) => onPublished(table.table, done)}
      />
    );
  };
  if (tables.length <= 1) return content();
  return (
    <Tabs
      label="Table"
      tabs={tables.map((each) => ({ id: String(each.table), label: labelOf(each) }))}
      selected={String(table?.table)}
      onSelect={(chosen) => setParams({ table: chosen })}
    >
      {content()}
    </Tabs>
  );
}

const labelOf = ({ sheet, table }: Table) => sheet ?? `Table ${table + 1}`;

/** Deletes the upload. */
function Discard({ id }: { id: string }) {
  const [, navigate] = useLocation();
  const action = useAction();
  const discard = async () => {
    await accountApi.delete('/v1/operator/uploads/{id}', { path: { id } });
    navigate('/dashboard/operator/publish');
  };
  return (
    <>
      <button class="btn" type="button" disabled={action.isBusy} onClick={() => action.run(discard)}>
        Discard the file
      </button>
      <Problem of={action.error} />
    </>
  );
}
