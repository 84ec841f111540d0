// The meanings of `google_error` after `#`.

const texts: Readonly<Record<string, string>> = {
  denied: 'You did not allow Google to identify you. Nothing has changed.',
  expired: 'The sign-in with Google took too long, or was started in another browser. Start again.',
  failed: 'The answer from Google could not be verified. Start again.',
  email_unverified: 'Google has not verified the e-mail address of that account, so it cannot be used here.',
  link_needed:
    'There is an account with that e-mail address. Sign in with its password; then link Google under Security.',
  identity_taken: 'This Google account, or its e-mail address, belongs to another account here.',
  account_disabled: 'This account is disabled.',
};

export function googleErrorText(error: string): string {
  return texts[error] ?? `Google answered “${error}”.`;
}
