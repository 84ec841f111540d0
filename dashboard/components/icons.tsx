// The icons, drawn in the colour of the text around them; all are decorative, and the enclosing element has the name.
import type { ComponentChildren } from 'preact';

function Icon({ children }: { children: ComponentChildren }) {
  return (
    <svg
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.5"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      {children}
    </svg>
  );
}

export const SearchIcon = () => (
  <Icon>
    <circle cx="7" cy="7" r="4.5" />
    <path d="m10.5 10.5 3.5 3.5" />
  </Icon>
);

export const PlusIcon = () => (
  <Icon>
    <path d="M8 3v10M3 8h10" />
  </Icon>
);

export const MenuIcon = () => (
  <Icon>
    <path d="M2 4.5h12M2 8h12M2 11.5h12" />
  </Icon>
);

export const CopyIcon = () => (
  <Icon>
    <rect x="5.5" y="5.5" width="8" height="8" rx="1.5" />
    <path d="M10.5 5.5v-2a1 1 0 0 0-1-1h-6a1 1 0 0 0-1 1v6a1 1 0 0 0 1 1h2" />
  </Icon>
);

export const CheckIcon = () => (
  <Icon>
    <path d="m3 8.5 3.5 3.5L13 4.5" />
  </Icon>
);

export const CloseIcon = () => (
  <Icon>
    <path d="m4 4 8 8M12 4l-8 8" />
  </Icon>
);

export const WarningIcon = () => (
  <Icon>
    <path d="M8 2.2 14.6 13.6H1.4zM8 6.4v3.2M8 11.6v.1" />
  </Icon>
);

export const InfoIcon = () => (
  <Icon>
    <circle cx="8" cy="8" r="6.2" />
    <path d="M8 7.4v3.6M8 5v.1" />
  </Icon>
);

export const DownloadIcon = () => (
  <Icon>
    <path d="M8 2.5v8M4.8 7.5 8 10.7l3.2-3.2M2.5 13.5h11" />
  </Icon>
);

/** The mark: lines of vintages, the newest in the accent. */
export const Mark = () => (
  <svg viewBox="0 0 22 22" fill="none" stroke-linecap="round" aria-hidden="true" class="mark">
    <path d="M3 17.5 19 16" class="oldest" stroke-width="1.6" />
    <path d="M3 17.5 19 10.5" class="older" stroke-width="2" />
    <path d="M3 17.5 18.5 4" class="newest" stroke-width="3" />
  </svg>
);
