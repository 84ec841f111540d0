// almanac completion: prints the script by which a shell completes commands, flags and the words that an argument may be.
import { examples, type DeclareCommand } from '../command.ts';
import { placesOf, scripts, type Shell } from '../completion-scripts.ts';

const shells = Object.keys(scripts) as Shell[];

export const completion: DeclareCommand = (command, { stdout }) => {
  command
    .description('Write it to a file that your shell reads when it starts, and again after an upgrade.')
    .addArgument(command.createArgument('<shell>', 'your shell').choices(shells))
    .addHelpText(
      'after',
      examples(
        'almanac completion bash > ~/.local/share/bash-completion/completions/almanac',
        'almanac completion zsh > "${fpath[1]}/_almanac"',
        'almanac completion fish > ~/.config/fish/completions/almanac.fish',
      ),
    )
    .action((shell) => {
      const { parent } = command;
      if (parent === null) throw new Error('completion is a command of a program');
      stdout.write(scripts[shell](placesOf(parent)));
    });
};
