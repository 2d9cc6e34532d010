import type { Connector } from '../../../connectors/connector.ts'
import { observedPatch } from '../../../domain/signals/observed.ts'
import type { ScoreRules } from '../../../domain/signals/score.ts'
import type { SignalType } from '../../../domain/signals/signal.ts'
import { signalsOf } from '../../../store/signals/kept-signals.ts'
import { fieldsWritten, observationsOf } from '../../../store/signals/observations.ts'
import type { ReadyRow } from '../../../store/writes/ready-run.ts'
import type { Context } from '../../context/context.ts'
import { scoreAccounts, type AccountScore } from './score-accounts.ts'
import { writeValues, type WriteValuesOptions, type WrittenValues } from '../../writing/write-values.ts'

/** The part of a pipeline that decides what is written. */
export interface WritingPipeline {
  name: string
  types: readonly SignalType[]
  /** The days after which a type is due again. */
  days: Readonly<Record<SignalType, number>>
  score: ScoreRules
  /** `true`: all fields; `false`: none; else these. */
  write: boolean | readonly string[]
}

export interface WriteSignalsOptions extends WriteValuesOptions {
  /** The CRM and the object whose records are written. Undefined for accounts of a list, which have no record. */
  target: { connector: Connector; entity: string } | undefined
}

const pageSize = 500

/**
 * Computes the scores of accounts for today and writes what was observed of them into their records. Called after the checks of a
 * pipeline were answered; it buys nothing. A call that is repeated computes the same scores, and writes nothing again.
 *
 * Crash windows: scores that were saved and not written are computed and written by the next call, since scores of a day replace each
 * other; those of the write itself are above `writeValues`.
 */
export async function writeSignals(
  context: Context,
  pipeline: WritingPipeline,
  accounts: readonly bigint[],
  { target, ...options }: WriteSignalsOptions,
): Promise<WrittenValues> {
  const at = context.now()
  // Also of accounts that were not checked: a score is halved by days, and reports compare days.
  const { name, types, score: rules } = pipeline
  const scores = await scoreAccounts(context, name, { types, rules }, { accounts, at })
  const rows: ReadyRow[] = []
  for (let start = 0; start < accounts.length; start += pageSize) {
    const ids = accounts.slice(start, start + pageSize)
    const page = await observedRows(context, pipeline, ids, { scores, target, at })
    rows.push(...page)
  }
  if (!target || rows.length === 0)
    return { runId: undefined, written: 0, unchanged: 0, skipped: 0, rejected: 0, end: 'finished' }
  const { connector, entity } = target
  const source = { pipeline: name }
  return writeValues(context, connector, { entity, trigger: 'signals', source, rows }, options)
}

/** Returns the values for the records of a page of accounts. */
async function observedRows(
  { database: { db } }: Pick<Context, 'database'>,
  { name, types, days, write }: WritingPipeline,
  accounts: readonly bigint[],
  {
    scores,
    target,
    at,
  }: { scores: ReadonlyMap<bigint, AccountScore>; target: WriteSignalsOptions['target']; at: Date },
): Promise<ReadyRow[]> {
  if (!target || write === false) return []
  const observed = await observationsOf(db, name, accounts)
  const signals = await signalsOf(db, accounts)
  const unknown = observed.filter(({ isKnown }) => !isKnown).map(({ recordId }) => recordId)
  const ofAnother = await fieldsWritten(
    db,
    { connector: target.connector.name, entity: target.entity },
    unknown,
  )
  return observed.flatMap((account): ReadyRow[] => {
    const { accountId, connector, entity, recordId, identity, position, checks, lookups, firstDay } = account
    if (connector !== target.connector.name || entity !== target.entity) return []
    // Signals write nothing about a company that the service does not know: these values are of one that it knew before.
    const cleared = Object.fromEntries(
      (ofAnother.get(recordId) ?? []).map((field) => [field, { clear: true } as const]),
    )
    const patch = observedPatch(
      {
        position,
        signals: signals.get(accountId) ?? [],
        checks,
        score: scores.get(accountId),
        watchedSince: firstDay === undefined ? undefined : new Date(firstDay),
      },
      { types, days, at },
    )
    const wanted = Object.entries({ ...cleared, ...patch }).filter(
      ([field]) => write === true || write.includes(field),
    )
    return wanted.length > 0
      ? [{ recordId, identity, steps: lookups, patch: Object.fromEntries(wanted) }]
      : []
  })
}
