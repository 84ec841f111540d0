// The TLS certificate of a service, which can be replaced while the service runs.
import type { Certificate } from '../settings/settings.ts';

export interface ServiceCertificate {
  current(): Certificate;
  /** Calls `use` with each certificate that replaces the current one. */
  onRenewed(use: (renewed: Certificate) => void): void;
  /** @returns activates the new certificate for new connections. @throws Error if there is none: TLS can be switched off only by a restart. */
  prepareRenewal(renewed: Certificate | undefined): () => void;
}

/** @returns undefined if there is none. */
export function openCertificate(first: Certificate | undefined): ServiceCertificate | undefined {
  if (first === undefined) return undefined;
  let current = first;
  const users: ((renewed: Certificate) => void)[] = [];
  return {
    current: () => current,
    onRenewed: (use) => void users.push(use),
    prepareRenewal(renewed) {
      if (renewed === undefined)
        throw new Error('SERVICE_TLS_CERT and SERVICE_TLS_KEY can be removed only by a restart.');
      return () => {
        current = renewed;
        for (const use of users) use(renewed);
      };
    },
  };
}
