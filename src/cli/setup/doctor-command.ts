import { Command } from 'commander'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'

export function doctorCommand(): Command {
  return new Command('doctor')
    .description(
      'Check every dependency and credential in turn, and say how to fix problems. Buys and writes nothing.',
    )
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      helpEnd({
        examples: ['paydirt doctor', 'paydirt doctor --json'],
        statuses: { 0: 'no problem', 1: 'there is a problem' },
      }),
    )
    .action(lazily(async () => (await import('./doctor.ts')).doctor))
}
