import { noteFromCli } from '../../app/context/audit-from-cli.ts'
import type { Context } from '../../app/context/context.ts'
import { queryLedger } from '../../app/queries/query-ledger.ts'
import {
  parseIdentifiers,
  readSuppressionText,
  type SuppressionFile,
} from '../../app/records/suppression-file.ts'
import { readIdentifiers } from '../../app/records/suppress.ts'
import type { Identifier } from '../../domain/subjects/identifiers.ts'
import { counted } from '../../domain/values/counted.ts'
import { readConfig, withContext } from '../terminal/with-context.ts'
import { print, printError } from '../terminal/print.ts'
import { utcMinute } from '../../domain/values/utc-minute.ts'

interface Options {
  email: string[]
  phone: string[]
  profileUrl: string[]
  domain: string[]
  json?: true
}

export function add(file: string | undefined, options: Options): Promise<void> {
  return change('add', file, options, (context, identifiers) => context.suppressions.add(identifiers))
}

export function remove(file: string | undefined, options: Options): Promise<void> {
  return change('remove', file, options, (context, identifiers) => context.suppressions.remove(identifiers))
}

export async function list(options: { json?: true }): Promise<void> {
  const rows = await queryLedger(await readConfig(), 'suppressions', {})
  if (options.json) print(`${JSON.stringify(rows)}\n`)
  else if (rows.length === 0) print('the list is empty\n')
  else
    for (const { kind, digest, addedAt } of rows)
      print(`${utcMinute(addedAt)}  ${kind.padEnd(11)} ${digest}\n`)
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
          `${counted(blankLines.length, 'row')} without an identifier (${blankLines.length === 1 ? 'line' : 'lines'} ${blankLines.slice(0, 10).join(', ')}${blankLines.length > 10 ? ', …' : ''})`,
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
