// /dashboard/operator/publish: uploads a file that is dropped or chosen. Its tables are then shown on a page of their own.
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { accountApi } from '../../../api/clients.ts';
import { CodePanel } from '../../../components/code-panel.tsx';
import { Problem, useAction } from '../../../components/forms/action.tsx';
import { PageHead } from '../../../components/page-head.tsx';
import { bytesText } from '../../../text/amounts.ts';
import { commandLine } from '../../../text/command-line.ts';
import '../../../styles/publish.css';
import { operatorPage } from '../operator-page.tsx';

/** The formats that the API reads, for the file dialog. */
const endings = '.csv,.tsv,.txt,.gz,.xlsx,.xlsm,.xlsb,.xls,.ods';

export const OperatorPublish = operatorPage(() => {
  const [, navigate] = useLocation();
  const [file, setFile] = useState<File>();
  const [isMany, setIsMany] = useState(false);
  const action = useAction();
  // Once the user has left this page, there is no redirect to the result.
  const leaving = useRef(new AbortController());
  useEffect(() => () => leaving.current.abort(new DOMException('The page was closed.', 'AbortError')), []);
  const send = (files: readonly File[]) => {
    const [first] = files;
    setIsMany(files.length > 1);
    if (first === undefined || files.length > 1) return;
    setFile(first);
    action.run(async () => {
      const { data } = await accountApi.post('/v1/operator/uploads', {
        query: { name: first.name },
        body: first,
        signal: leaving.current.signal,
      });
      navigate(`/dashboard/operator/publish/${data.id}`);
    });
  };
  return (
    <>
      <PageHead
        title="Publish a file"
        lede="A CSV file or an Excel workbook. Before anything is published, you see what was found in it and what it would change."
      />
      <DropZone onFiles={send} isBusy={action.isBusy} />
      <p class="sm below" role="status">
        {action.isBusy &&
          file !== undefined &&
          `Uploading and reading ${file.name} (${bytesText(file.size)}) …`}
        {isMany && 'Drop only one file at a time.'}
      </p>
      <Problem of={action.error} />
      <section aria-labelledby="command">
        <h2 id="command">On the command line</h2>
        <p class="sm below">For whole folders, and files that you publish regularly:</p>
        <CodePanel code={commandLine('almanac', 'publish', file?.name ?? 'cpi.csv')} />
      </section>
    </>
  );
});

/** A file input that also accepts dropped files. */
function DropZone({ onFiles, isBusy }: { onFiles: (files: readonly File[]) => void; isBusy: boolean }) {
  const id = useId();
  const [isOver, setIsOver] = useState(false);
  return (
    <div
      class={isOver ? 'drop over' : 'drop'}
      onDragOver={(event) => {
        event.preventDefault(); // the browser would open the file
        setIsOver(true);
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setIsOver(false);
        if (!isBusy) onFiles([...(event.dataTransfer?.files ?? [])]);
      }}
    >
      <input
        class="vh"
        id={id}
        type="file"
        accept={endings}
        disabled={isBusy}
        aria-describedby={`${id}-kinds`}
        onChange={(event) => {
          const input = event.currentTarget;
          onFiles([...(input.files ?? [])]);
          input.value = ''; // the same file can be chosen again
        }}
      />
      <label class="btn main" for={id}>
        Choose a file
      </label>
      <p class="sm">or drop it here</p>
      <p class="xs dim" id={`${id}-kinds`}>
        .csv, .tsv, .txt, also as .gz; .xlsx, .xlsm, .xlsb, .xls, .ods
      </p>
    </div>
  );
}
