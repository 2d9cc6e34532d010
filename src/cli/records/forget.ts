import { queryLedger } from '../../app/queries/query-ledger.ts'
import { forget, planForget, type ForgetPlan, type Forgotten } from '../../app/records/forget.ts'
import { readIdentifiers } from '../../app/records/suppress.ts'
import { ConfigError } from '../../domain/errors.ts'
import { counted } from '../../domain/values/counted.ts'
import { confirm, ownTerminal } from '../terminal/confirm.ts'
import { exitStatus } from '../terminal/exit.ts'
import { readConfig, withContext } from '../terminal/with-context.ts'
import { print, printError } from '../terminal/print.ts'

interface Options {
  email: string[]
  phone: string[]
  profileUrl: string[]
  suppress: boolean
  plan?: true
  yes?: true
  json?: true
}

export async function forgetSubject({
  email,
  phone,
  profileUrl,
  suppress,
  plan,
  yes,
  json,
}: Options): Promise<void> {
  const identifiers = readIdentifiers({ email, phone, profile_url: profileUrl })
  const terminal = ownTerminal()
  if (!plan && !yes && !terminal)
    throw new ConfigError(
      'not_confirmed',
      'forget erases for good, and there is no terminal to ask on: add --yes, or look at --plan first',
    )
  if (plan) {
    const planned = await queryLedger(await readConfig(), 'forgetPlan', { identifiers, suppress })
    print(json ? `${JSON.stringify(planned)}\n` : planText(planned))
    return
  }
  await withContext(async (context) => {
    if (!yes && terminal) {
      const planned = await planForget(context, identifiers, { suppress })
      printError(planText(planned))
      if (planned.refusal === null && !(await confirm(terminal, 'Erase this for good?'))) {
        printError('nothing was erased\n')
        process.exitCode = exitStatus.interrupted
        return
      }
    }
    const forgotten = await forget(context, identifiers, { suppress })
    print(json ? `${JSON.stringify(forgotten)}\n` : text(forgotten))
  })
}

function text({ erased, suppressed, inCrms }: Forgotten): string {
  return `erased: ${counts(erased)}
${counted(erased.charges, 'charge')} ${erased.charges === 1 ? 'keeps its amount and loses its name' : 'keep their amount and lose their name'}
${counted(suppressed, 'new entry')} on the suppression list
${crmSection(inCrms)
  .map((line) => `${line}\n`)
  .join('')}`
}

function crmSection(records: Forgotten['inCrms']): string[] {
  return section(
    'records of the CRM that still hold it, to be erased there:',
    records.map(({ connector, entity, id }) => `${connector}:${entity}:${id}`),
  )
}

const shown = 20

function planText(plan: ForgetPlan): string {
  const { erased, suppressed, identifiers, records, inCrms, lookups, refusal } = plan
  const lines = [
    `known as: ${listed(identifiers.map(({ value }) => value))}`,
    `would be erased: ${counts(erased)}`,
    `${counted(erased.charges, 'charge')} would keep ${erased.charges === 1 ? 'its amount and lose its' : 'their amount and lose their'} name`,
    `${counted(suppressed, 'new entry')} on the suppression list`,
    ...section(
      'records (their rows in the ledger; the CRM and the files stay as they are):',
      records.map(
        ({ connector, entity, id, file, runs }) =>
          `${file === null ? `${connector}:${entity}:${id}` : `${file} line ${id}`} (${counted(runs, 'run')})`,
      ),
    ),
    ...crmSection(inCrms),
    ...section('lookups:', lookups),
  ]
  if (refusal !== null) lines.push(`forget would refuse now: ${refusal}`)
  return `${lines.join('\n')}\n`
}

function counts(erased: Forgotten['erased']): string {
  const {
    lookups,
    mentions,
    tasks,
    fieldWrites,
    planRecords,
    runs,
    recordIdentities,
    createdRecords,
    crmNotes,
    listReviews,
    listRows,
    signals,
    jobs,
  } = erased
  return `${counted(lookups, 'lookup')}, ${counted(mentions, 'mention')} in other answers, ${counted(tasks, 'task')}, ${counted(fieldWrites, 'field write')}, ${counted(planRecords, 'plan record')}, ${counted(runs, 'condition')} of runs, ${counted(recordIdentities, 'entry')} of the index, ${counted(createdRecords + listRows, 'row')} of lists, ${counted(listReviews, 'answer')} about such rows, ${counted(crmNotes, 'note or task', 'notes and tasks')}, ${counted(signals, 'account or signal', 'accounts and signals')}, ${counted(jobs, 'job')}`
}

function section(title: string, items: readonly string[]): string[] {
  if (items.length === 0) return []
  const more = items.length - shown
  return [
    title,
    ...items.slice(0, shown).map((item) => `  ${item}`),
    ...(more > 0 ? [`  and ${more} more (--json shows all)`] : []),
  ]
}

function listed(values: readonly string[]): string {
  const more = values.length - shown
  return `${values.slice(0, shown).join(', ')}${more > 0 ? `, and ${more} more` : ''}`
}
