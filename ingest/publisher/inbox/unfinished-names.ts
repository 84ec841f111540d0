// The names of hidden files, and of files that a program has not finished writing.

/** Whether a file is hidden, or its name is one that a program uses for an unfinished file: `.cpi.csv`, `~$cpi.xlsx`, `cpi.csv.part`. */
export const isUnfinished = (name: string): boolean =>
  /^(?:\.|~\$)|\.(?:part|partial|tmp|filepart|crdownload)$/i.test(name);
