// Code to copy, alone or in tabs by language.
import { useState } from 'preact/hooks';
import type { Sample } from '../text/samples.ts';
import { CopyButton } from './copy-button.tsx';
import { Tabs } from './tabs.tsx';

type CodePanelProps = Pick<Sample, 'code' | 'copies'>;

export function CodePanel({ code, copies = code }: CodePanelProps) {
  return (
    <div class="code">
      {/* Focusable, so that the keyboard can scroll it sideways. */}
      <pre tabIndex={0}>
        <code>{coloured(code)}</code>
      </pre>
      <CopyButton text={copies} label="Copy the code" />
    </div>
  );
}

interface CodeTabsProps {
  samples: readonly Sample[];
  /** If given: the owner of the choice, such as the URL. */
  selected?: string;
  onSelect?: (language: string) => void;
}

export function CodeTabs({ samples, selected, onSelect }: CodeTabsProps) {
  const [own, setOwn] = useState(samples[0]?.language ?? '');
  const language = selected ?? own;
  const sample = samples.find((each) => each.language === language) ?? samples[0];
  return (
    <Tabs
      label="Language"
      tabs={samples.map((each) => ({ id: each.language, label: each.language }))}
      selected={sample?.language ?? ''}
      onSelect={onSelect ?? setOwn}
    >
      {sample && <CodePanel {...sample} />}
    </Tabs>
  );
}

/** Colours strings and comments; enough for short samples. */
function coloured(code: string) {
  const parts = code.split(/("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|(?<=^|\s)(?:#|\/\/|--) .*$)/m);
  return parts.map((part, i) =>
    i % 2 === 0 ? (
      part
    ) : (
      <span key={i} class={/^["']/.test(part) ? 'string' : 'comment'}>
        {part}
      </span>
    ),
  );
}
