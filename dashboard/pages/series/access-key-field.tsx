// The line about the limits of a visitor without a key, with a field for one. The key is stored only in memory.
import { useId, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { accessKey, giveKey, keyInput } from '../../api/access-key.ts';

/** @param children what is shown without a key: "This is the public preview: …". */
export function AccessKey({ children }: { children: string }) {
  const id = useId();
  const [isOpen, setIsOpen] = useState(false);
  if (accessKey.value !== undefined) {
    return (
      <p class="xs dim">
        Uses your key {accessKey.value.slice(0, 12)}…, which is kept until you leave or reload this page.{' '}
        <button class="link" type="button" onClick={() => giveKey(undefined)}>
          Forget it
        </button>
      </p>
    );
  }
  function onSubmit(event: SubmitEvent & { currentTarget: HTMLFormElement }) {
    event.preventDefault();
    const text = new FormData(event.currentTarget).get('key');
    if (typeof text === 'string' && text.trim() !== '') giveKey(text.trim());
  }
  return (
    <div>
      <p class="xs dim">
        {children}{' '}
        <button class="link" type="button" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          Use your key
        </button>{' '}
        or <Link href="/sign-up">get one</Link>.
      </p>
      {isOpen && (
        <form class="key-line" onSubmit={onSubmit}>
          <label class="vh" for={id}>
            API key
          </label>
          <input {...keyInput} class="in mono" id={id} name="key" />
          <button class="btn main" type="submit">
            Show all data
          </button>
          <span class="xs dim">The key stays in the memory of this page. Calls made with it count.</span>
        </form>
      )}
    </div>
  );
}
