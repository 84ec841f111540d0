// A button that copies a text, and confirms it.
import { useEffect, useState } from 'preact/hooks';
import { CheckIcon, CopyIcon } from './icons.tsx';

const resultShownMs = 1_500;

interface CopyButtonProps {
  text: string | (() => string);
  /** The copied object, for screen readers: "Copy the code". */
  label: string;
  /** By default `Copy`. */
  children?: string;
  class?: string;
}

export function CopyButton({
  text,
  label,
  children = 'Copy',
  class: className = 'btn sml',
}: CopyButtonProps) {
  const [result, setResult] = useState<'Copied' | 'Not copied'>();
  useEffect(() => {
    if (result === undefined) return undefined;
    const timer = setTimeout(setResult, resultShownMs, undefined);
    return () => clearTimeout(timer);
  }, [result]);
  async function copy(button: HTMLElement) {
    setResult((await copied(typeof text === 'string' ? text : text(), button)) ? 'Copied' : 'Not copied');
  }
  return (
    <button
      class={`${className} copy`}
      type="button"
      aria-label={result ?? label}
      onClick={(event) => void copy(event.currentTarget)}
    >
      {result === 'Copied' ? <CheckIcon /> : <CopyIcon />}
      <span aria-live="polite">{result ?? children}</span>
    </button>
  );
}

/** Browsers provide a clipboard only on https and localhost, and may refuse it; then the text is copied from a selection. */
async function copied(text: string, button: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    area.className = 'vh';
    button.after(area); // a dialog allows no selection outside it
    area.select();
    const isDone = document.execCommand('copy');
    area.remove();
    button.focus();
    return isDone;
  }
}
