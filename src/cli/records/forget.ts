import { Command } from 'commander'
import { forget, type Forgotten } from '../../app/records/forget.ts'
import { readIdentifiers } from '../../app/records/suppress.ts'
import { repeatable } from '../terminal/repeatable.ts'
import { withContext } from '../terminal/with-context.ts'
import { print } from '../terminal/print.ts'

interface Options {
  email: string[]
  phone: string[]
  profileUrl: string[]
  suppress: boolean
  json?: true
}

export function forgetCommand(): Command {
  return new Command('forget')
    .description(
      'Erase a person or company from the ledger, plans and queue, and put them on the suppression list. Amounts stay, without a name.',
    )
    .addOption(repeatable('--email <address>', 'an e-mail address'))
    .addOption(repeatable('--phone <number>', 'a phone number with its country prefix'))
    .addOption(repeatable('--profile-url <url>', 'a profile'))
    .option('--no-suppress', 'do not put the subject on the suppression list')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nRecords in a CRM, enriched files and backups of the database are not changed: erase the subject there yourself.',
    )
    .action(async ({ email, phone, profileUrl, suppress, json }: Options) => {
      const identifiers = readIdentifiers({ email, phone, profile_url: profileUrl })
      await withContext(async (context) => {
        const forgotten = await forget(context, identifiers, { suppress })
        print(json ? `${JSON.stringify(forgotten)}\n` : text(forgotten))
      })
    })
}

function text({ erased, suppressed }: Forgotten): string {
  const { lookups, mentions, tasks, charges, fieldWrites, planRecords, runs, jobs } = erased
  return `erased: ${lookups} lookups, ${mentions} mentions in other answers, ${tasks} tasks, ${fieldWrites} field writes, ${planRecords} plan records, ${runs} conditions of runs, ${jobs} jobs
${charges} charges keep their amount and lose their name
${suppressed} new entries on the suppression list
`
}
