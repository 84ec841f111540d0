// The parts of semver that are used; the package has no types.
declare module 'semver' {
  const semver: {
    /** @param range as in `engines` of a package. */
    satisfies(version: string, range: string): boolean;
    /** Whether every version of the first range is one of the second. */
    subset(range: string, of: string): boolean;
  };
  export default semver;
}
