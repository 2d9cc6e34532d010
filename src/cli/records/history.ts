import { queryLedger } from '../../app/queries/query-ledger.ts'
import { readRecordName, type RecordHistory } from '../../app/records/history.ts'
import { ConfigError } from '../../domain/errors.ts'
import { readConfig } from '../terminal/with-context.ts'
import { print } from '../terminal/print.ts'

interface Options {
  json?: true
}

export async function showHistory(name: string, options: Options): Promise<void> {
  const record = readRecordName(name)
  const history = await queryLedger(await readConfig(), 'history', record)
  if (history.tasks.length === 0 && history.fields.length === 0)
    throw new ConfigError('no_such_record', `the ledger has no record ${name}`)
  print(options.json ? `${JSON.stringify(history)}\n` : text(history))
}

function text(history: RecordHistory): string {
  const { connector, object, id, fields, tasks, mergedFrom, mergedInto } = history
  const lines = [`${connector} ${object} ${id}`]
  if (mergedInto !== null) lines.push(`  merged into ${mergedInto}, whose history goes on from here`)
  if (mergedFrom.length > 0) lines.push(`  with the history of ${mergedFrom.join(', ')}, merged into it`)
  for (const each of fields) {
    const at = each.at?.toISOString().slice(0, 16) ?? 'not confirmed'
    const cost = `${each.price} ${each.currency === 'USD' ? 'USD' : 'credits'}`
    lines.push(
      `  ${each.field}: ${shown(each.old, '(blank)')} → ${shown(each.new, '(erased)')}`,
      `    ${each.state}, ${at}, ${cost}, from ${each.lookup ?? 'an unknown lookup'}, run ${each.run}${each.undoneAt ? `, put back ${each.undoneAt.toISOString().slice(0, 16)}` : ''}`,
    )
  }
  if (fields.length === 0 && !tasks.some(({ output }) => output))
    lines.push('  nothing was written into this record')
  lines.push(
    'runs:',
    ...tasks.flatMap(({ run, status, reason, at, file, output = {} }) => [
      `  ${run} ${at.toISOString().slice(0, 16)} ${file === undefined ? '' : `${file} `}${status}${reason === null ? '' : `: ${reason}`}`,
      ...Object.entries(output).map(([field, value]) => `    ${field}: ${JSON.stringify(value)}`),
    ]),
  )
  return `${lines.join('\n')}\n`
}

function shown(value: string | number | boolean | null, blank: string): string {
  return value === null ? blank : JSON.stringify(value)
}
