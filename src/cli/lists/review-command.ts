import { Command, Option } from 'commander'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'

export function reviewCommand(): Command {
  const answers = [
    new Option('--same <record>', 'the row is this record: it exists'),
    new Option('--new', 'the row is none of the records like it: a plan makes it'),
    new Option('--never', 'no record is ever made of the row'),
    new Option('--forget-answer', 'take back what was answered before, so that the row waits again'),
  ]
  const command = new Command('review')
    .description(
      'Show the rows of a list that wait for a person, because they may be a record of the CRM, with what is known of these records; or answer about one of them. An answer is kept for the next time, and for every list of the same CRM and object. Pays nothing.',
    )
    .argument('<list>', 'the name of the list')
    .argument('[key]', 'the key of the row, as this command shows it')
  for (const option of answers)
    command.addOption(
      option.conflicts(answers.filter((each) => each !== option).map((each) => each.attributeName())),
    )
  return command
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      helpEnd({
        examples: [
          'paydirt lists review fintechs',
          'paydirt lists review fintechs 3f9a01c2d4e5 --same companies:1001',
          'paydirt lists review fintechs 3f9a01c2d4e5 --never',
          'paydirt lists review fintechs 3f9a01c2d4e5 --forget-answer',
        ],
        statuses: {},
        notes: [
          'A record with the same profile, id, e-mail or domain that comes later is `exists`, also after --new.',
          'After --new a record that nobody was shown makes the row wait again.',
        ],
      }),
    )
    .action(lazily(async () => (await import('./review.ts')).reviewList))
}
