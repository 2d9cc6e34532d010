import { queryLedger } from '../../app/queries/query-ledger.ts'
import type { ChampionsReport, ReportedChampion } from '../../app/champions/champions-report.ts'
import { counted } from '../../domain/values/counted.ts'
import { print } from '../terminal/print.ts'
import { readConfig } from '../terminal/with-context.ts'

interface Options {
  since?: string
  json?: true
}

/** The terminal shows so many people of each kind. */
const mostShown = 25

export async function reportNamedChampions(champions: string, { since, json }: Options): Promise<void> {
  const report = await queryLedger(await readConfig(), 'championsReport', { champions, since })
  print(json ? `${JSON.stringify(report)}\n` : reportText(report))
}

function reportText({ champions, checked, verdicts, left, unclear, month }: ChampionsReport): string {
  const found = Object.entries(verdicts).map(([verdict, count]) => `${count} ${verdict}`)
  const lines = [
    `${champions}: ${counted(checked, 'person', 'people')} looked up${found.length > 0 ? `: ${found.join(', ')}` : ''}`,
    `  ${month.month}     ${month.spentUsd} USD${month.capUsd === null ? '' : ` of ${month.capUsd}`}`,
    ...(left.length > 0 ? ['Left:', ...left.slice(0, mostShown).map(leaverLine)] : ['Nobody has left.']),
    ...moreLine(left.length),
    ...(unclear.length > 0
      ? [
          'Nothing certain (two jobs at once, or too little told):',
          ...unclear.slice(0, mostShown).map(({ record, verdict }) => `  ${record}  ${verdict}`),
        ]
      : []),
    ...moreLine(unclear.length),
  ]
  return `${lines.join('\n')}\n`
}

function leaverLine({ record, from, employer, joined, leftAt }: ReportedChampion): string {
  const to = employer?.name ?? employer?.domain
  const where = to
    ? `now at ${to}${employer?.title ? `, ${employer.title}` : ''}`
    : 'no new employer is known'
  const there = joined ? ` (${joined.record}${joined.state === 'made' ? ', made by Paydirt' : ''})` : ''
  return `  ${(leftAt ?? '').slice(0, 10)}  ${record}  from ${from ?? 'an employer without a name'}: ${where}${there}`
}

function moreLine(count: number): string[] {
  return count > mostShown ? [`  and ${count - mostShown} more (--json)`] : []
}
