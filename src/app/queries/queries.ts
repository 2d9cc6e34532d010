import { z } from 'zod'
import { backUp } from '../backup/back-up.ts'
import { championsReport } from '../champions/champions-report.ts'
import { listActions } from '../actions/list-actions.ts'
import { reportDeliveries } from '../monitors/deliveries-report.ts'
import { explainRecord } from '../records/explain.ts'
import { indexAges } from '../records/index-ages.ts'
import { planForget } from '../records/forget.ts'
import { historyOf } from '../records/history.ts'
import { planUndo } from '../records/plan-undo.ts'
import { optionsOf } from '../reports/option-report.ts'
import { makeReport } from '../reports/report.ts'
import { explainScore } from '../signals/reporting/explain-score.ts'
import { scoredPipelines } from '../signals/reporting/scored-pipelines.ts'
import { makeSignalsReport } from '../signals/reporting/signals-report.ts'
import { describeCall } from '../service/describe-call.ts'
import { describeOperations } from '../service/describe-operations.ts'
import { savedPaces } from '../service/saved-paces.ts'
import { verifyAnswers } from '../service/verify-answers.ts'
import { reportRetention } from '../upkeep/retention.ts'
import { describeRun } from '../runs/run-detail.ts'
import { listRuns } from '../runs/run-list.ts'
import { listSchedules } from '../schedules/schedule-commands.ts'
import { compareOnly } from '../money/compare-only.ts'
import { readSpend, spendingStop } from '../money/spend-report.ts'
import { identifierKinds } from '../../domain/subjects/identifiers.ts'
import { operations } from '../../domain/words.ts'
import { createApiTokenLedger } from '../../store/access/api-tokens.ts'
import type { SpendGroup } from '../../store/views/spend.ts'
import type { Context } from '../context/context.ts'

const spendGroups = ['day', 'run', 'connector', 'endpoint', 'field', 'list'] as const satisfies SpendGroup[]

/**
 * The queries of a ledger, by name. A command runs one of these on a ledger that it opened itself, or has the holder
 * of an embedded ledger run it: the same function either way. None of them changes anything that a person or a CRM sees; two
 * keep what they learned from the chain and from merges. A result goes from process to process, so it is plain data.
 */
export const queries = {
  backup: query(z.strictObject({ file: z.string() }), (context, { file }) => backUp(context, file)),
  runs: query(z.strictObject({ limit: z.int() }), (context, { limit }) => listRuns(context, limit)),
  run: query(z.strictObject({ id: z.string() }), (context, { id }) => describeRun(context, id)),
  history: query(recordName().extend({ run: z.string().optional() }), historyOf),
  explain: query(
    z.strictObject({ record: recordName(), recipe: z.string().optional() }),
    (context, { record, recipe }) => explainRecord(context, record, recipe),
  ),
  spend: query(z.strictObject({ by: z.enum(spendGroups) }), (context, { by }) => readSpend(context, by)),
  spendingStop: query(z.strictObject({}), spendingStop),
  report: query(
    z.union([z.strictObject({ run: z.string() }), z.strictObject({ month: z.string() })]),
    makeReport,
  ),
  signalsScore: query(
    z.strictObject({ record: recordName(), pipeline: z.string().optional() }),
    (context, { record, pipeline }) =>
      explainScore(context, scoredPipelines(context.config), record, pipeline),
  ),
  signalsReport: query(
    z.strictObject({
      pipeline: z.string().optional(),
      since: z.string().optional(),
      owner: z.string().optional(),
    }),
    (context, options) => makeSignalsReport(context, scoredPipelines(context.config), options),
  ),
  championsReport: query(
    z.strictObject({ champions: z.string(), since: z.string().optional() }),
    (context, { champions, since }) => championsReport(context, champions, { since }),
  ),
  comparison: query(z.strictObject({ isFull: z.boolean() }), compareOnly),
  operations: query(z.strictObject({ only: z.enum(operations).optional() }), (context, { only }) =>
    describeOperations(context, { only }),
  ),
  callPlan: query(
    z.strictObject({
      operation: z.enum(operations),
      body: z.record(z.string(), z.unknown()),
      path: z.string().optional(),
      /** In millionths: a query leaves as JSON, which has no large numbers. */
      maxAtomic: z.string().optional(),
      isEverything: z.boolean(),
      isUnchecked: z.boolean(),
      pages: z.int().positive(),
    }),
    (context, { maxAtomic, ...call }) =>
      describeCall(context, { ...call, maxAtomic: maxAtomic === undefined ? undefined : BigInt(maxAtomic) }),
  ),
  verification: query(z.strictObject({}), verifyAnswers),
  monitorDeliveries: query(z.strictObject({}), reportDeliveries),
  undoPlan: query(
    z.strictObject({ run: z.string(), field: z.string().optional() }),
    (context, { run, field }) => planUndo(context, run, field),
  ),
  forgetPlan: query(
    z.strictObject({
      identifiers: z.array(z.strictObject({ kind: z.enum(identifierKinds), value: z.string() })),
      suppress: z.boolean(),
    }),
    (context, { identifiers, suppress }) => planForget(context, identifiers, { suppress }),
  ),
  options: query(
    z.strictObject({ connector: z.string(), object: z.string().optional() }),
    (context, { connector, object }) => optionsOf(context, connector, object),
  ),
  schedules: query(z.strictObject({}), listSchedules),
  serviceActions: query(z.strictObject({}), listActions),
  /** All in one: a ledger that no process holds is opened for each query. */
  serviceState: query(z.strictObject({}), async (context) => ({
    operations: await describeOperations(context),
    actions: await listActions(context),
    indexes: await indexAges(context),
    retention: await reportRetention(context),
    paces: await savedPaces(context),
  })),
  retention: query(z.strictObject({}), reportRetention),
  suppressions: query(z.strictObject({}), ({ suppressions }) => suppressions.list()),
  tokens: query(z.strictObject({}), ({ database, now }) => createApiTokenLedger(database.db, { now }).list()),
}

export type QueryName = keyof typeof queries
export type InputOf<N extends QueryName> = z.input<(typeof queries)[N]['input']>
export type ResultOf<N extends QueryName> = Awaited<ReturnType<(typeof queries)[N]['run']>>

interface Query<S extends z.ZodType, R> {
  input: S
  run(context: Context, input: z.output<S>): Promise<R>
}

function query<S extends z.ZodType, R>(
  input: S,
  run: (context: Context, input: z.output<S>) => Promise<R>,
): Query<S, R> {
  return { input, run }
}

function recordName() {
  return z.strictObject({ connector: z.string(), object: z.string(), id: z.string() })
}
