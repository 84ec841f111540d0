// The completion scripts for bash, zsh and fish, generated from the declarations of all commands.
import type { CommandUnknownOpts } from 'commander';

export type Shell = 'bash' | 'zsh' | 'fish';

/** A command, and its possible next words. */
interface Place {
  /** The words that lead to it, each after a space; empty for the program itself. */
  words: string;
  /** Its subcommands, or the values of its first argument. */
  choices: readonly Choice[];
  flags: readonly Flag[];
}

interface Choice {
  text: string;
  meaning: string;
}

interface Flag extends Choice {
  takesValue: boolean;
}

/** The command and all below it. */
export function placesOf(command: CommandUnknownOpts, words = ''): Place[] {
  const subcommands = command.commands.map((each) => ({ text: each.name(), meaning: each.summary() }));
  const [argument] = command.registeredArguments;
  const values = argument?.argChoices?.map((text) => ({ text, meaning: argument.description })) ?? [];
  const visible = command.createHelp().visibleOptions(command);
  const flags = visible.map(({ long, description, required }) => ({
    text: long ?? '',
    meaning: description.split(';')[0] ?? '',
    takesValue: required,
  }));
  return [
    { words, choices: [...subcommands, ...values], flags },
    ...command.commands.flatMap((each) => placesOf(each, `${words} ${each.name()}`)),
  ];
}

export const scripts: Record<Shell, (places: readonly Place[]) => string> = { bash, zsh, fish };

function bash(places: readonly Place[]): string {
  const cases = places.map(
    ({ words, choices, flags }) =>
      `    ${quoted(words)}) words=${quoted(textsOf(choices))} flags=${quoted(textsOf(flags))} valued=${quoted(valuedOf(flags))} ;;`,
  );
  return `# Completes almanac in bash; made by "almanac completion bash".
_almanac() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]}
  local place= last=0 i words= flags= valued=
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$place \${COMP_WORDS[i]}" in
      ${patternOf(places)}) place="$place \${COMP_WORDS[i]}" last=$i ;;
    esac
  done
  case "$place" in
${cases.join('\n')}
  esac
  COMPREPLY=()
  [[ " $valued " == *" $before "* ]] && return # the value of a flag: file names, by default
  if [[ $word == -* ]]; then words=$flags; elif ((last < COMP_CWORD - 1)); then words=; fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _almanac almanac
`;
}

function zsh(places: readonly Place[]): string {
  const described = (all: readonly Choice[]) =>
    all.map(({ text, meaning }) => quoted(`${text.replaceAll(':', '\\:')}:${meaning}`)).join(' ');
  const cases = places.map(
    ({ words, choices, flags }) =>
      `    (${quoted(words)}) choices=(${described(choices)}) flags=(${described(flags)}) valued=${quoted(valuedOf(flags))} ;;`,
  );
  return `#compdef almanac
# Completes almanac in zsh; made by "almanac completion zsh".
_almanac() {
  local place= last=1 i valued=
  local -a choices flags
  for ((i = 2; i < CURRENT; i++)); do
    case "$place \${words[i]}" in
      (${patternOf(places)}) place="$place \${words[i]}" last=$i ;;
    esac
  done
  case "$place" in
${cases.join('\n')}
  esac
  if [[ " $valued " == *" \${words[CURRENT-1]} "* ]]; then
    _files
  elif [[ \${words[CURRENT]} == -* ]]; then
    _describe -o flag flags
  elif ((last == CURRENT - 1 && \${#choices})); then
    _describe word choices
  else
    _files
  fi
}
if [[ \${funcstack[1]} == _almanac ]]; then
  _almanac "$@"
else
  compdef _almanac almanac
fi
`;
}

function fish(places: readonly Place[]): string {
  const lines = places.flatMap(({ words, choices, flags }) => {
    const at = (position: string) =>
      `complete -c almanac -n ${quotedForFish(`__almanac_at ${quotedForFish(words)}${position}`)}`;
    return [
      ...choices.map(
        ({ text, meaning }) => `${at(' next')} -f -a ${quotedForFish(text)} -d ${quotedForFish(meaning)}`,
      ),
      ...flags.map(
        ({ text, meaning, takesValue }) =>
          `${at('')} -l ${text.slice(2)} ${takesValue ? '-r ' : ''}-d ${quotedForFish(meaning)}`,
      ),
    ];
  });
  const known = places.slice(1).map(({ words }) => quotedForFish(words));
  return `# Completes almanac in fish; made by "almanac completion fish".
function __almanac_at -a wanted position
  set -l place ''
  set -l i 1
  set -l last 1
  set -l given (commandline -opc)
  for each in $given[2..]
    set i (math $i + 1)
    switch "$place $each"
      case ${known.join(' ')}
        set place "$place $each"
        set last $i
    end
  end
  test "$place" = "$wanted"; or return 1
  test -z "$position"; or test $last = $i
end
${lines.join('\n')}
`;
}

function textsOf(choices: readonly Choice[]): string {
  return choices.map(({ text }) => text).join(' ');
}

function valuedOf(flags: readonly Flag[]): string {
  return textsOf(flags.filter(({ takesValue }) => takesValue));
}

/** All places but the first, as a pattern of `case`. */
function patternOf(places: readonly Place[]): string {
  return places
    .slice(1)
    .map(({ words }) => quoted(words))
    .join('|');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function quotedForFish(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
