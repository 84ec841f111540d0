// The types of commander that infer what an action receives from the arguments and flags of its command.
declare module 'commander' {
  export * from '@commander-js/extra-typings';
}
