import { Command } from 'commander'
import { noteFromCli } from '../../app/context/audit-from-cli.ts'
import type { Context } from '../../app/context/context.ts'
import {
  parseIdentifiers,
  readSuppressionText,
  type SuppressionFile,
} from '../../app/records/suppression-file.ts'
import { readIdentifiers } from '../../app/records/suppress.ts'
import type { Identifier } from '../../domain/subjects/identifiers.ts'
import { repeatable } from '../terminal/repeatable.ts'
import { readConfig, withContext } from '../terminal/with-context.ts'
import { print, printError } from '../terminal/print.ts'

interface Options {
  email: string[]
  phone: string[]
  profileUrl: string[]
  domain: string[]
  json?: true
}

export function suppressCommand(): Command {
  const command = new Command('suppress').description(
    'Manage the suppression list: nothing is bought or written about the subjects on it. Only digests are stored.',
  )
  command.addCommand(
    subjects(new Command('add').description('Put subjects on the list.')).action(
      (file: string | undefined, options: Options) =>
        change('add', file, options, (context, identifiers) => context.suppressions.add(identifiers)),
    ),
  )
  command.addCommand(
    subjects(new Command('remove').description('Take subjects off the list.')).action(
      (file: string | undefined, options: Options) =>
        change('remove', file, options, (context, identifiers) => context.suppressions.remove(identifiers)),
    ),
  )
  command.addCommand(
    new Command('list')
      .description('Show the entries: their kind, the beginning of their digest, and when they were added.')
      .option('--json', 'print one JSON document')
      .action(async (options: { json?: true }) => {
        await withContext(async ({ suppressions }) => {
          const rows = await suppressions.list()
          if (options.json) print(`${JSON.stringify(rows)}\n`)
          else if (rows.length === 0) print('the list is empty\n')
          else
            for (const { kind, digest, addedAt } of rows)
              print(`${addedAt.toISOString().slice(0, 16)}  ${kind.padEnd(11)} ${digest}\n`)
        })
      }),
  )
  return command
}

function subjects(command: Command): Command {
  return command
    .argument('[file]', 'a list: a CSV with a header, or one identifier on each line; - for standard input')
    .addOption(repeatable('--email <address>', 'an e-mail address'))
    .addOption(repeatable('--phone <number>', 'a phone number with its country prefix'))
    .addOption(repeatable('--profile-url <url>', "a person's or company's profile"))
    .addOption(repeatable('--domain <domain>', 'everyone at a domain'))
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
In a CSV, the columns email, phone and profile_url are read, and the synonyms that \`paydirt csv\` knows (mobile, person_url …).
A column named domain suppresses everyone at each domain. Other columns are ignored, and their names are printed.
Without such a header, each line is one e-mail address, phone number, profile URL or domain.
When a line cannot be read, the command names it and changes nothing.`,
    )
}

async function change(
  verb: 'add' | 'remove',
  file: string | undefined,
  options: Options,
  work: (context: Context, identifiers: readonly Identifier[]) => Promise<number>,
): Promise<void> {
  const config = await readConfig()
  const list =
    file === undefined
      ? undefined
      : parseIdentifiers(await readSuppressionText(file), {
          networkName: config.networkName,
          synonyms: config.csvSynonyms,
        })
  // Subjects may be named by options, by a list, or by both.
  const isNamed = Object.values(named(options)).some((values) => values.length > 0)
  const identifiers = [
    ...(list?.identifiers ?? []),
    ...(isNamed || !list ? readIdentifiers(named(options)) : []),
  ]
  await withContext(async (context) => {
    const done = verb === 'add' ? 'added' : 'removed'
    const count = await work(context, identifiers)
    await noteFromCli(context, `suppress.${verb}`, { details: { [done]: count, given: identifiers.length } })
    tell(options, { [done]: count, given: identifiers.length, ...(list ? inList(list) : {}) }, done)
  }, config)
  if (list) tellOfList(list)
}

function inList({ counts, blankLines }: SuppressionFile) {
  return { list: counts, blankRows: blankLines.length }
}

function tellOfList({ ignored, blankLines }: SuppressionFile): void {
  const notes = [
    ...(ignored.length > 0
      ? [`columns that were ignored: ${ignored.map((name) => JSON.stringify(name)).join(', ')}`]
      : []),
    ...(blankLines.length > 0
      ? [
          `${blankLines.length} rows without an identifier (lines ${blankLines.slice(0, 10).join(', ')}${blankLines.length > 10 ? ', …' : ''})`,
        ]
      : []),
  ]
  for (const note of notes) printError(`${note}\n`)
}

function named({ email, phone, profileUrl, domain }: Options) {
  return { email, phone, profile_url: profileUrl, domain }
}

function tell(options: { json?: true }, document: Record<string, unknown>, verb: string): void {
  const count = document[verb]
  print(options.json ? `${JSON.stringify(document)}\n` : `${count} of ${document['given']} ${verb}\n`)
}
