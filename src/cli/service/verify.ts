import { utcMinute } from '../../domain/values/utc-minute.ts'
import { writeFile } from 'node:fs/promises'
import { inspect } from 'node:util'
import { queryLedger } from '../../app/queries/query-ledger.ts'
import type { VerifiedOperation } from '../../app/service/verify-answers.ts'
import type { Config } from '../../app/config/config.ts'
import { withLiveCaps } from '../../app/service/live-checks.ts'
import { InputError } from '../../domain/errors.ts'
import { parseUsd, type Atomic } from '../../domain/money.ts'
import { counted } from '../../domain/values/counted.ts'
import { exitStatus } from '../terminal/exit.ts'
import { print, printError } from '../terminal/print.ts'
import { bad, bold } from '../terminal/style.ts'
import { readConfig, stopSignal, withContext } from '../terminal/with-context.ts'
import { buyLiveChecks } from './verify-live.ts'

interface Options {
  json?: true
  fix?: true
  save?: string
  live?: true
  maxUsd: string
  company?: string
  person?: string
  yes?: true
}

export async function verify(options: Options): Promise<void> {
  const settings = await readConfig()
  if (options.live) await buy(settings, options)
  const operations = await queryLedger(settings, 'verification', {})
  if (options.save !== undefined) await save(options.save, operations)
  const isDrifting = operations.some(({ drift }) => drift.length > 0)
  const fix = fixOf(operations)
  if (options.json) print(`${JSON.stringify({ ok: !isDrifting, operations, fix: fix ?? null })}\n`)
  else print(operations.map(textOf).join('') || 'the ledger holds no answer of the service yet\n')
  if (options.fix && !options.json) print(fixText(operations, isDrifting))
  process.exitCode = isDrifting ? exitStatus.failed : exitStatus.done
}

async function buy(settings: Config, { maxUsd, company, person, yes }: Options): Promise<void> {
  const totalAtomic = amountOf(maxUsd)
  const signal = stopSignal()
  await withContext(
    (context) => buyLiveChecks(context, { totalAtomic, company, person, yes: yes ?? false, signal }),
    withLiveCaps(settings, totalAtomic),
    { saysItself: true },
  )
}

function amountOf(text: string): Atomic {
  try {
    return parseUsd(text)
  } catch {
    throw new InputError('bad_amount', `--max-usd: "${text}" is not an amount in USD such as 0.20`)
  }
}

const mostNamed = 12

function textOf(operation: VerifiedOperation): string {
  const { answers, unreadable, lastAnswerAt, drift, stopped, neverSeen, newFields, newWords } = operation
  const held = `${counted(answers, 'answer')}${unreadable > 0 ? `, ${unreadable} unreadable` : ''}${lastAnswerAt ? `, last ${utcMinute(lastAnswerAt)}` : ''}`
  const lines = [
    ...(stopped === null ? [] : [`  ${bad('stopped')}     ${stopped}`]),
    ...drift.map(
      ({ name, message, at }) =>
        `  ${bad('drift')}       ${name}: ${message}${at ? ` (${at.toISOString().slice(0, 10)})` : ''}`,
    ),
    ...listed('never seen', neverSeen),
    ...listed(
      'new',
      newFields.map(({ path, type }) => `${path} (${type})`),
    ),
    ...newWords.flatMap(({ vocabulary, words }) =>
      listed(
        'new words',
        words.map((word) => JSON.stringify(word)),
        ` in ${vocabulary}`,
      ),
    ),
  ]
  return `${bold(operation.operation)}: ${held}${lines.length === 0 ? ', as known' : ''}\n${lines.map((line) => `${line}\n`).join('')}`
}

function listed(title: string, names: readonly string[], behind = ''): string[] {
  if (names.length === 0) return []
  const more = names.length - mostNamed
  return [
    `  ${title.padEnd(11)} ${names.slice(0, mostNamed).join(', ')}${more > 0 ? ` and ${more} more` : ''}${behind}`,
  ]
}

function fixOf(operations: readonly VerifiedOperation[]): object | undefined {
  const settings = operations.flatMap(({ operation, fix }) => (fix ? [[operation, fix] as const] : []))
  return settings.length > 0 ? { service: { operations: Object.fromEntries(settings) } } : undefined
}

/** Returns the settings as they stand in paydirt.config.ts. */
function fixText(operations: readonly VerifiedOperation[], isDrifting: boolean): string {
  const settings = operations.flatMap(({ operation, fix }) =>
    fix ? [`    '${operation}': ${inspect(fix, { depth: 9, breakLength: Infinity, compact: true })},\n`] : [],
  )
  if (settings.length === 0) return isDrifting ? '\nno setting mends this\n' : '\nthere is nothing to mend\n'
  const retries = operations
    .filter(({ fix, stopped }) => fix && stopped !== null)
    .map(({ operation }) => `then: \`paydirt service retry ${operation}\`\n`)
  return `\n${bold('in paydirt.config.ts, in place of what it has for these operations:')}\nservice: {\n  operations: {\n${settings.join('')}  },\n},\n${retries.join('')}`
}

async function save(path: string, operations: readonly VerifiedOperation[]): Promise<void> {
  const shapes = Object.fromEntries(
    operations.map(({ operation, fields }) => [
      operation,
      fields.map(({ path: name, type }) => `${name || '(answer)'}: ${type}`),
    ]),
  )
  await writeFile(path, `${JSON.stringify(shapes, null, 2)}\n`)
  printError(`names and types are in ${path}; it has no value of any answer\n`)
}
