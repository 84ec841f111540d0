// A command of the command line: commander's, with usage errors of one line.
import { Command, type CommandUnknownOpts, type ParseOptionsResult } from 'commander';
import { UsageError } from './command.ts';

/** The words that call the command: `almanac keys list`. */
export function pathOf(command: CommandUnknownOpts): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

export class AlmanacCommand extends Command {
  constructor(name?: string) {
    super(name);
    this.helpCommand(false); // main.ts handles `almanac help keys`
  }

  /** Subcommands have the same rules. */
  override createCommand(name?: string): AlmanacCommand {
    return new AlmanacCommand(name);
  }

  /** Every error in the arguments ends here. @throws UsageError */
  override error(message: string): never {
    throw new UsageError(
      message.replace(/^error: (?:command-argument value )?/, '').replaceAll('\n', ' '),
      pathOf(this),
    );
  }

  /** Called if a subcommand is missing. @throws UsageError that names the available ones. */
  override help(): never {
    this.error(`missing command; there are ${this.commands.map((each) => each.name()).join(', ')}`);
  }

  /**
   * A flag after a flag that needs a value means that the value was forgotten: in `--report --json`, `--json` is not a file name. @throws
   * UsageError
   */
  override parseOptions(words: string[]): ParseOptionsResult {
    const before = words.includes('--') ? words.slice(0, words.indexOf('--')) : words;
    for (const [i, word] of before.entries()) {
      const option = this.options.find(({ long }) => long === word);
      const [next] = before[i + 1]?.split('=') ?? [];
      if (option?.required === true && this.options.some(({ long }) => long === next))
        this.error(`option '${option.flags}' needs a value before ${next}`);
    }
    return super.parseOptions(words);
  }
}
