// A modal dialog on the browser's own <dialog>, which traps the focus and restores it.
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

interface DialogProps {
  title: string;
  /** Esc, or a click outside. */
  onClose: () => void;
  /** Esc and clicks outside do nothing, for content that must be read first. */
  locked?: boolean;
  children: ComponentChildren;
}

/** Open for as long as it is rendered. */
export function Dialog({ title, onClose, locked = false, children }: DialogProps) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  /** A selection of text that ends outside is a click on the dialog, too. */
  const isPressedOutside = useRef(false);
  useEffect(() => {
    const opener = document.activeElement;
    const element = dialog.current;
    element?.showModal();
    return () => {
      element?.close();
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  useEffect(() => {
    if (!locked) return undefined;
    // A second Esc closes the dialog without a cancel event, wherever the focus is.
    const blockEscape = (event: KeyboardEvent) => {
      if (event.key === 'Escape') event.preventDefault();
    };
    document.addEventListener('keydown', blockEscape, { capture: true });
    return () => document.removeEventListener('keydown', blockEscape, { capture: true });
  }, [locked]);
  return (
    <dialog
      class="dlg"
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        if (!locked) onClose();
      }}
      onPointerDown={(event) => void (isPressedOutside.current = event.target === dialog.current)}
      onClick={(event) => {
        if (event.target === dialog.current && isPressedOutside.current && !locked) onClose();
      }}
    >
      <div class="dlg-in">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}
