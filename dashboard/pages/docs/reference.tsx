// The reference of the API, from the OpenAPI document of this installation.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { api } from '../../api/clients.ts';
import { shownIn, useLoad } from '../../api/use-load.ts';
import { CodePanel } from '../../components/code-panel.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { SkeletonRows, Waiting } from '../../components/states.tsx';
import { useSearchParams } from '../../components/use-query.ts';
import { curlOf } from './curl-example.ts';
import { DocsFrame } from './docs-frame.tsx';
import { readDocument, type Field, type Operation } from './openapi-document.ts';

export function Reference() {
  const loaded = useLoad(async (signal) => readDocument(await api.get('/v1/openapi.json', { signal })), []);
  const reference = shownIn(loaded);
  const opened = useOpened();
  const sections = useMemo(
    () => (reference?.tags ?? []).map(({ name }) => ({ id: sectionOf(name), title: name })),
    [reference],
  );
  return (
    <div class="wrap">
      <DocsFrame sections={sections}>
        <PageHead
          title="Reference"
          crumb={<Link href="/docs">Docs</Link>}
          lede="Every endpoint, its parameters, answers and errors."
          actions={
            <a class="btn" href="/v1/openapi.json">
              OpenAPI 3.1
            </a>
          }
        />
        <Waiting
          for={loaded}
          skeleton={<SkeletonRows rows={12} />}
          failure="The OpenAPI document could not be loaded"
        >
          {({ tags }) =>
            tags.map(({ name, description, operations }) => (
              <section key={name} id={sectionOf(name)}>
                <div class="sec-head">
                  <h2>{name}</h2>
                  <p>{description}</p>
                </div>
                {operations.map((operation) => (
                  <OperationRow key={operation.id} operation={operation} isLinked={operation.id === opened} />
                ))}
              </section>
            ))
          }
        </Waiting>
      </DocsFrame>
    </div>
  );
}

const sectionOf = (tag: string): string => tag.toLowerCase().replaceAll(/[^a-z]+/g, '-');

/** The operation that the URL names, which is open. */
function useOpened(): string {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const look = () => setHash(location.hash);
    addEventListener('hashchange', look);
    return () => removeEventListener('hashchange', look);
  }, []);
  return hash.slice(1);
}

/** Closed at first, so that the list of all operations can be scanned. */
function OperationRow({ operation, isLinked }: { operation: Operation; isLinked: boolean }) {
  const [isOpen, setIsOpen] = useState(isLinked);
  useEffect(() => {
    if (isLinked) setIsOpen(true);
  }, [isLinked]);
  return (
    <details
      class="op"
      id={operation.id}
      open={isOpen}
      onToggle={(event) => setIsOpen(event.currentTarget.open)}
    >
      <summary>
        <span class="method">{operation.method}</span>
        <code>{operation.path}</code>
        <span>{withCode(operation.summary)}</span>
      </summary>
      {isOpen && <OperationDetail operation={operation} />}
    </details>
  );
}

function OperationDetail({ operation }: { operation: Operation }) {
  const [params] = useSearchParams();
  const { description, credentials, parameters, body, answers, errors } = operation;
  return (
    <div class="op-in">
      {description !== '' && <p>{withCode(description)}</p>}
      <p class="dim">
        {credentials.length === 0
          ? 'Needs no key.'
          : `Needs ${credentials.includes('ApiKey') ? (credentials.includes('Session') ? 'an API key or a session' : 'an API key') : 'a session'}.`}{' '}
        <a href={`#${operation.id}`}>Link to this</a>
      </p>
      <div class="mt">
        <CodePanel code={curlOf(operation, params.get('id') ?? undefined)} />
      </div>
      {parameters.length > 0 && <FieldTable title="Parameters" fields={parameters} />}
      {body.length > 0 && <FieldTable title="Body, JSON" fields={body} />}
      {answers.map(({ status, description: text, types, fields }) => (
        <div key={status}>
          <h3>
            Answer {status} <span class="dim">{types.join(', ')}</span>
          </h3>
          <p>{withCode(text)}</p>
          {fields.length > 0 && <FieldTable fields={fields} />}
        </div>
      ))}
      {errors.length > 0 && <ErrorTable errors={errors} />}
    </div>
  );
}

function FieldTable({ title, fields }: { title?: string; fields: readonly (Field & { place?: string })[] }) {
  return (
    <>
      {title !== undefined && <h3>{title}</h3>}
      <div class="scrollx" tabIndex={0} role="group" aria-label={title ?? 'Fields'}>
        <table>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Type</th>
              <th scope="col">Meaning</th>
            </tr>
          </thead>
          <tbody>
            {fields.map(({ name, type, isRequired, description, depth, place }, i) => (
              <tr key={i}>
                <td class={`depth${depth}`}>
                  <code>{name}</code>
                  {isRequired && place !== undefined && <small> required</small>}
                  {place === 'path' && <small>, in the path</small>}
                  {place === 'header' && <small> header</small>}
                </td>
                <td>{type}</td>
                <td>{withCode(description)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function ErrorTable({ errors }: { errors: Operation['errors'] }) {
  return (
    <>
      <h3>Errors</h3>
      <div class="scrollx" tabIndex={0} role="group" aria-label="Errors">
        <table>
          <thead>
            <tr>
              <th scope="col">Status</th>
              <th scope="col">Code</th>
              <th scope="col">Meaning</th>
            </tr>
          </thead>
          <tbody>
            {errors.map(({ status, code, meaning }) => (
              <tr key={code}>
                <td>{status}</td>
                <td>
                  <a href={`/docs/errors#${code}`}>
                    <code>{code}</code>
                  </a>
                </td>
                <td>{withCode(meaning)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

/** Renders text of the document, which has code between backticks. */
function withCode(text: string) {
  return text.split('`').map((part, i) => (i % 2 === 1 ? <code key={i}>{part}</code> : part));
}
