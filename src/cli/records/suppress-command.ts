import { Command } from 'commander'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'
import { repeatable } from '../terminal/repeatable.ts'

export function suppressCommand(): Command {
  const command = new Command('suppress')
    .description(
      'Manage the suppression list: nothing is bought or written about the subjects on it. Only digests are stored.',
    )
    .addHelpText(
      'after',
      helpEnd({ examples: ['paydirt suppress add --domain example.com', 'paydirt suppress list'] }),
    )
  command.addCommand(
    subjects(new Command('add').description('Put subjects on the list.'), [
      'paydirt suppress add --email ada@example.com',
      'paydirt suppress add do-not-contact.csv',
    ]).action(lazily(async () => (await import('./suppress.ts')).add)),
  )
  command.addCommand(
    subjects(new Command('remove').description('Take subjects off the list.'), [
      'paydirt suppress remove --email ada@example.com',
    ]).action(lazily(async () => (await import('./suppress.ts')).remove)),
  )
  command.addCommand(
    new Command('list')
      .description('Show the entries: their kind, the beginning of their digest, and when they were added.')
      .option('--json', 'print one JSON document')
      .addHelpText(
        'after',
        helpEnd({ examples: ['paydirt suppress list', 'paydirt suppress list --json'], statuses: {} }),
      )
      .action(lazily(async () => (await import('./suppress.ts')).list)),
  )
  return command
}

function subjects(command: Command, examples: readonly string[]): Command {
  return command
    .argument('[file]', 'a list: a CSV with a header, or one identifier on each line; - for standard input')
    .addOption(repeatable('--email <address>', 'an e-mail address'))
    .addOption(repeatable('--phone <number>', 'a phone number with its country prefix'))
    .addOption(repeatable('--profile-url <url>', "a person's or company's profile"))
    .addOption(repeatable('--domain <domain>', 'everyone at a domain'))
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      helpEnd({
        examples,
        notes: [
          `In a CSV, the columns email, phone and profile_url are read, and the synonyms that \`paydirt csv\` knows (mobile, person_url …).
A column named domain suppresses everyone at each domain. Other columns are ignored, and their names are printed.
Without such a header, each line is one e-mail address, phone number, profile URL or domain.
When a line cannot be read, the command names it and changes nothing.`,
        ],
        statuses: {},
      }),
    )
}
