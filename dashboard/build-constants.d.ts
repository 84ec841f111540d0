// The constants that vite.config.ts defines.

/** The version of package.json. */
declare const __ALMANAC_VERSION__: string;

declare module 'virtual:guides' {
  export interface Guide {
    title: string;
    html: string;
    sections: { id: string; title: string }[];
  }
  /** The guides of docs/, in groups; the text of each is a file of its own. */
  export const groups: readonly {
    title: string;
    guides: readonly { id: string; title: string; summary: string; load: () => Promise<Guide> }[];
  }[];
}

declare module 'virtual:guides-text' {
  /** Every part of every guide, from a heading to the next one, in the order of the guides. */
  export const texts: readonly { href: string; guide: string; title: string; text: string }[];
}
