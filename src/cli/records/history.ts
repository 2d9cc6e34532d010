import type { HistoryOrigin, RecordHistory } from '../../app/records/history.ts'
import { clearedValue } from '../../domain/field-policy/blocked-values.ts'
import { withPaydirt } from '../terminal/with-context.ts'
import { print } from '../terminal/print.ts'
import { utcMinute } from '../../domain/values/utc-minute.ts'
import { hasMissingOption, optionsHint } from '../../domain/planning/missing-option.ts'

interface Options {
  run?: string
  json?: true
}

export async function showHistory(name: string, options: Options): Promise<void> {
  const history = await withPaydirt((paydirt) => paydirt.history(name, { run: options.run }))
  print(options.json ? `${JSON.stringify(history)}\n` : historyText(history))
}

/** Returns the history of a record for a person. */
export function historyText(history: RecordHistory): string {
  const { connector, object, id, fields, tasks, mergedFrom, mergedInto } = history
  const lines = [`${connector} ${object} ${id}`]
  if (mergedInto !== null) lines.push(`  merged into ${mergedInto}, whose history goes on from here`)
  if (mergedFrom.length > 0) lines.push(`  with the history of ${mergedFrom.join(', ')}, merged into it`)
  if (history.made) lines.push(`  ${originText(history.made)}`)
  const files = [...new Set(tasks.flatMap(({ file }) => file ?? []))]
  if (files.length > 1)
    lines.push(
      `  line ${id} of ${files.length} files, which are different records: ${files.join(', ')}. --run RUN shows one of them`,
    )
  for (const each of fields) {
    const state = stateText(each)
    const cost = money(each)
    lines.push(
      `  ${each.field}: ${shown(each.old, '(blank)')} → ${each.new === clearedValue ? '(cleared)' : shown(each.new, '(erased)')}`,
      `    ${state}, ${cost}, from ${each.lookup ?? 'an unknown lookup'}, run ${each.run}${each.undoneAt ? `, put back ${utcMinute(each.undoneAt)}` : ''}`,
    )
  }
  if (hasMissingOption(fields.map((each) => ({ reason: stateText(each) }))))
    lines.push(`  ${optionsHint(connector)}`)
  if (fields.length === 0 && !history.made && !tasks.some(({ output }) => output))
    lines.push('  nothing was written into this record')
  lines.push(
    'runs:',
    ...tasks.flatMap(({ run, status, reason, at, file, sources = [] }) => [
      `  ${run} ${utcMinute(at)} ${file === undefined ? '' : `${file} `}${status}${reason === null ? '' : `: ${reason}`}`,
      ...sources.flatMap((source) => [
        `    from ${source.lookup ?? 'an unknown lookup'}, ${money(source)} in this run`,
        ...source.fields.map(
          (each) =>
            `      ${each.field}: ${each.had ? "(the row's own stays), beside it" : '(blank) →'} ${JSON.stringify(each.new)}`,
        ),
      ]),
    ]),
  )
  return `${lines.join('\n')}\n`
}

/** Returns where a record comes from that Paydirt made. */
export function originText({
  list,
  page,
  run,
  lookup,
  price,
  currency,
  at,
  isArchived,
}: HistoryOrigin): string {
  const bought = `from ${lookup ?? 'an unknown lookup'}, ${money({ price, currency })} for the whole page`
  return `made of page ${page ?? '?'} of the list ${list}${at ? `, ${utcMinute(at)}` : ''}, run ${run}, ${bought}${isArchived ? '; taken back by an undo' : ''}`
}

/** The same words as in the summary of a run: a value that was left out is not called written, nor rejected. */
function stateText({ state, reason, at }: RecordHistory['fields'][number]): string {
  if (reason !== null) return `left out (${reason})`
  return at ? `${state}, ${utcMinute(at)}` : `${state}, not confirmed`
}

function shown(value: string | number | boolean | null, blank: string): string {
  return value === null ? blank : JSON.stringify(value)
}

function money({ price, currency }: { price: string; currency: 'USD' | 'credit' }): string {
  return `${price} ${currency === 'USD' ? 'USD' : 'credits'}`
}
