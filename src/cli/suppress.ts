import { Command } from 'commander'
import { readMarks } from '../app/suppress.ts'
import { withContext } from './with-context.ts'

interface Options {
  email: string[]
  phone: string[]
  profileUrl: string[]
  domain: string[]
  json?: true
}

export function suppressCommand(): Command {
  const command = new Command('suppress').description(
    'Keep the list of those who are to be left alone: nothing is bought about them and nothing written. Only digests are stored.',
  )
  command.addCommand(
    subjects(new Command('add').description('Put subjects on the list.')).action(async (options: Options) => {
      const marks = readMarks(named(options))
      await withContext(async ({ suppressions }) => {
        tell(options, { added: await suppressions.add(marks), given: marks.length }, 'added')
      })
    }),
  )
  command.addCommand(
    subjects(new Command('remove').description('Take subjects off the list.')).action(
      async (options: Options) => {
        const marks = readMarks(named(options))
        await withContext(async ({ suppressions }) => {
          tell(options, { removed: await suppressions.remove(marks), given: marks.length }, 'removed')
        })
      },
    ),
  )
  command.addCommand(
    new Command('list')
      .description('Show the entries: their kind, the beginning of their digest, and when they were added.')
      .option('--json', 'print one JSON document')
      .action(async (options: { json?: true }) => {
        await withContext(async ({ suppressions }) => {
          const rows = await suppressions.list()
          if (options.json) process.stdout.write(`${JSON.stringify(rows)}\n`)
          else if (rows.length === 0) process.stdout.write('nobody is on the list\n')
          else
            for (const { kind, digest, addedAt } of rows)
              process.stdout.write(`${addedAt.toISOString().slice(0, 16)}  ${kind.padEnd(11)} ${digest}\n`)
        })
      }),
  )
  return command
}

function subjects(command: Command): Command {
  return command
    .option('--email <address>', 'an e-mail address; repeatable', collect, [])
    .option('--phone <number>', 'a phone number with its country prefix; repeatable', collect, [])
    .option('--profile-url <url>', "a person's or company's profile; repeatable", collect, [])
    .option('--domain <domain>', 'everybody at a domain; repeatable', collect, [])
    .option('--json', 'print one JSON document')
}

function named({ email, phone, profileUrl, domain }: Options) {
  return { email, phone, profile_url: profileUrl, domain }
}

function collect(value: string, before: string[]): string[] {
  return [...before, value]
}

function tell(options: { json?: true }, document: Record<string, number>, verb: string): void {
  const count = document[verb] ?? 0
  process.stdout.write(
    options.json ? `${JSON.stringify(document)}\n` : `${count} of ${document['given']} ${verb}\n`,
  )
}
