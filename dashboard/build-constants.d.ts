// What vite.config.ts writes into the code.

/** The version of package.json. */
declare const __ALMANAC_VERSION__: string;
