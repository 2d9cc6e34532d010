import { Argument, Command } from 'commander'
import { shells } from '../terminal/choices.ts'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'

export function completionCommand(): Command {
  return new Command('completion')
    .description('Print a script that completes commands, options and their values with the Tab key.')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .addHelpText(
      'after',
      helpEnd({
        examples: ['paydirt completion bash', 'paydirt completion zsh', 'paydirt completion fish'],
        notes: [
          `Add to your shell's own file, behind whatever makes the name \`paydirt\` known:
  bash  ~/.bashrc                     source <(paydirt completion bash)
  zsh   ~/.zshrc, behind compinit     source <(paydirt completion zsh)
  fish  ~/.config/fish/config.fish    paydirt completion fish | source`,
        ],
        statuses: {},
      }),
    )
    .action(lazily(async () => (await import('./completion.ts')).completion, { isQuiet: true }))
}
