// A secret that is shown once, with the gate: only who says that it is stored goes on.
import type { ComponentChildren } from 'preact';
import { CopyButton } from '../../components/copy-button.tsx';

interface SecretOnceProps {
  secret: string;
  /** What it is, in "I have stored this …". */
  what: string;
  lede: string;
  isStored: boolean;
  onStored: (isStored: boolean) => void;
  onDone: () => void;
  /** How to use it. */
  children?: ComponentChildren;
}

export function SecretOnce({ secret, what, lede, isStored, onStored, onDone, children }: SecretOnceProps) {
  return (
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
            onChange={(event) => onStored(event.currentTarget.checked)}
          />
          I have stored this {what}
        </label>
        <button class="btn main" type="button" disabled={!isStored} onClick={onDone}>
          Done
        </button>
      </div>
    </>
  );
}
