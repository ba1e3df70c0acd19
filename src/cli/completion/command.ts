import { Argument, type Command } from 'commander'
import { examples } from '../flags/options.ts'
import { print } from '../terminal/print.ts'
import { SCRIPTS, type Shell } from './scripts.ts'
import { completions } from './tree.ts'

/** @param createProgram makes the program with all commands */
export function addCompletionCommand(program: Command, createProgram: () => Promise<Command>): void {
  program
    .command('completion')
    .description('Print the script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>', 'the shell to complete in').choices(Object.keys(SCRIPTS)))
    .addHelpText(
      'after',
      examples(
        'tally completion bash > ~/.local/share/bash-completion/completions/tally',
        'tally completion zsh > ~/.zfunc/_tally   # with fpath=(~/.zfunc $fpath) before compinit in ~/.zshrc',
        'tally completion fish > ~/.config/fish/completions/tally.fish',
      ),
    )
    .action(async (shell: Shell) => {
      print(SCRIPTS[shell](completions(await createProgram())).trimEnd())
    })
}
