// Which e-mails are sent first when many wait.

/**
 * The priority of a kind of mail: notices of what happened to an account, then e-mails to account holders, then those that anyone can cause to any e-mail
 * address, and last the e-mails about changes that many accounts follow.
 */
export function mailPriority(mail: string): number {
  if (mail === 'notice') return 2;
  if (mail === 'changes') return -1;
  return mail === 'sign_up' ? 0 : 1;
}
