// A secret that is shown once: the user must confirm that it is stored.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { CopyButton } from '../../components/copy-button.tsx';
import { Dialog } from '../../components/dialog.tsx';

interface SecretOnceProps {
  /** Closes the dialog, which cannot be closed before; absent if a page shows the secret. */
  title?: string;
  secret: string;
  /** The object in "I have stored this …". */
  what: string;
  lede: string;
  onDone: () => void;
  /** How to use it. */
  children?: ComponentChildren;
}

export function SecretOnce({ title, secret, what, lede, onDone, children }: SecretOnceProps) {
  const [isStored, setIsStored] = useState(false);
  const content = (
    <>
      <p class="sm">{lede}</p>
      <div class="secret">
        <code data-test="secret">{secret}</code>
        <CopyButton text={secret} label={`Copy the ${what}`} class="btn main" />
      </div>
      {children}
      <div class="rule gate">
        <label class="check">
          <input
            type="checkbox"
            checked={isStored}
            onChange={(event) => setIsStored(event.currentTarget.checked)}
          />
          I have stored this {what}
        </label>
        <button class="btn main" type="button" disabled={!isStored} onClick={onDone}>
          Done
        </button>
      </div>
    </>
  );
  if (title === undefined) return content;
  return (
    <Dialog key="secret" title={title} locked={!isStored} onClose={onDone}>
      {content}
    </Dialog>
  );
}
