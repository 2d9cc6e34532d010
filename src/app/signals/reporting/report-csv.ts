import { stringify } from 'csv-stringify/sync'
import { guardFormula } from '../../../connectors/csv/index.ts'
import { nameOf, type ReportedName } from '../../../domain/signals/report.ts'
import { evidenceDay } from './report-text.ts'
import type { OwnedAccount, SignalsReport } from './signals-report.ts'

const evidenceColumns = [1, 2, 3].flatMap((place) =>
  ['title', 'link', 'date'].map((part) => `evidence_${place}_${part}`),
)
const columns = [
  'pipeline',
  'kind',
  'account',
  'name',
  'owner',
  'score',
  'change',
  'stage',
  'stage_moves',
  'new_signals',
  ...evidenceColumns,
  'paid_usd',
  'paid_credits',
]

/** Returns the report as CSV: a line for each account that moved, is new or is gone, and one for the cost of each pipeline. */
export function reportCsv({ pipelines }: SignalsReport): string {
  const rows = pipelines.flatMap(({ pipeline, moved, added, gone, cost }) => [
    ...moved.map((account) => ({ pipeline, ...movedRow(account) })),
    ...added.map((account) => ({ pipeline, kind: 'new', ...nameRow(account) })),
    ...gone.map((account) => ({ pipeline, kind: 'gone', ...nameRow(account) })),
    {
      pipeline,
      kind: 'cost',
      paid_usd: cost.find(({ currency }) => currency === 'USD')?.settled ?? '0.000000',
      paid_credits: cost.find(({ currency }) => currency === 'credit')?.settled ?? '0.000000',
    },
  ])
  return stringify(
    rows.map((row: Readonly<Record<string, string>>) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, guardFormula(value)])),
    ),
    { header: true, columns },
  )
}

function movedRow(account: OwnedAccount): Record<string, string> {
  const { hundredths, changeHundredths, stage, moves, newSignals, evidence, owner } = account
  return {
    kind: 'moved',
    ...nameRow(account),
    owner: owner?.name ?? '',
    score: String(hundredths / 100),
    change: changeHundredths === null ? '' : String(changeHundredths / 100),
    stage: stage ?? '',
    stage_moves: moves.map(({ day, from, to }) => `${from} → ${to} (${day})`).join(', '),
    new_signals: String(newSignals),
    ...Object.fromEntries(
      evidence.flatMap((each, index) => [
        [`evidence_${index + 1}_title`, each.title ?? ''],
        [`evidence_${index + 1}_link`, each.link ?? ''],
        [`evidence_${index + 1}_date`, evidenceDay(each)],
      ]),
    ),
  }
}

function nameRow(account: ReportedName): Record<string, string> {
  return { account: nameOf(account), name: account.name ?? '' }
}
