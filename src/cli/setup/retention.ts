import { queryLedger } from '../../app/queries/query-ledger.ts'
import { enforceRetention, reportRetention, type RetentionReport } from '../../app/upkeep/retention.ts'
import { noteFromCli } from '../../app/context/audit-from-cli.ts'
import { counted } from '../../domain/values/counted.ts'
import { print } from '../terminal/print.ts'
import { readConfig, withContext } from '../terminal/with-context.ts'

export async function retention({ now, json }: { now: boolean; json?: true }): Promise<void> {
  const show = (report: RetentionReport) =>
    print(json ? `${JSON.stringify(report)}\n` : retentionText(report))
  if (!now) {
    show(await queryLedger(await readConfig(), 'retention', {}))
    return
  }
  await withContext(async (context) => {
    const rows = await enforceRetention(context)
    if (rows > 0) await noteFromCli(context, 'retention', { details: { rows } })
    show(await reportRetention(context))
  })
}

function retentionText({ rules, tables, erasures }: RetentionReport): string {
  const day = (time: string | null) => time?.slice(0, 10) ?? '-'
  const cells = [
    ['', 'kept', 'oldest', 'due', 'erased', 'last'],
    ...rules.map((rule) => [
      rule.name,
      rule.days === null ? 'for ever' : `${rule.days} days`,
      day(rule.oldest),
      String(rule.due),
      String(rule.erased),
      day(rule.lastErased),
    ]),
  ]
  const widths = cells[0]!.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)))
  const lines = cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  )
  const others = tables
    .filter(({ kept }) => kept !== 'rules')
    .map(
      ({ table, kept, why }) =>
        `  ${table} (${{ with: 'with others', clock: 'own end', ever: 'kept', rules: '' }[kept]}): ${why}`,
    )
  const past = erasures
    .slice(0, 20)
    .map(
      ({ name, rows, olderThan, at }) => `  ${at} ${name}: ${counted(rows, 'row')} older than ${olderThan}`,
    )
  return `${[...lines, 'other tables:', ...others, past.length > 0 ? 'erased:' : 'nothing was erased yet', ...past].join('\n')}\n`
}
