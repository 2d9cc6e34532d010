import { Command } from 'commander'
import { forget, type Forgotten } from '../../app/records/forget.ts'
import { readIdentifiers } from '../../app/records/suppress.ts'
import { withContext } from '../terminal/with-context.ts'

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
      'Erase a person or company everywhere in the ledger, plans and queue, and leave them alone from now on. Bare amounts stay.',
    )
    .option('--email <address>', 'an e-mail address; repeatable', collect, [])
    .option('--phone <number>', 'a phone number with its country prefix; repeatable', collect, [])
    .option('--profile-url <url>', 'a profile; repeatable', collect, [])
    .option('--no-suppress', 'do not put the subject on the list of those who are to be left alone')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nWhat stands in a CRM, and files that were written before, are not touched. Backups of the database are yours.',
    )
    .action(async ({ email, phone, profileUrl, suppress, json }: Options) => {
      const marks = readIdentifiers({ email, phone, profile_url: profileUrl })
      await withContext(async (context) => {
        const forgotten = await forget(context, marks, { suppress })
        process.stdout.write(json ? `${JSON.stringify(forgotten)}\n` : text(forgotten))
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

function collect(value: string, before: string[]): string[] {
  return [...before, value]
}
