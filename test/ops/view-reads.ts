import { globSync } from 'node:fs'
import { join } from 'node:path'
import { Kysely } from 'kysely'
import type { Database } from '../../src/store/database/database.ts'
import { createLedgerDialect } from '../../src/store/database/postgres/dialect.ts'
import type { LedgerPool } from '../../src/store/database/postgres/pool.ts'
import type { Tables } from '../../src/store/database/tables/schema.ts'

const root = join(import.meta.dirname, '../..')
const from = new Date('2026-01-01')
const to = new Date('2027-01-01')
const run = 'just-begun'
const record = { connector: 'hubspot', ids: ['1'], object: 'company' }
const scope = { since: from, connectors: ['hubspot'] }
const head = { id: run, connector: 'hubspot', entity: 'companies', recipe: 'profile', startedAt: to }
const group = { status: 'rejected', code: null, reason: 'none' }

/** Arguments behind the database for each view. A view that is not named here fails the test. */
const views: Record<string, unknown[]> = {
  committedIn: [['day:2026-11-25']],
  runToContinue: ['none'],
  lookupTimes: [{ from, to }, 86_400_000],
  lookupTimesByOperation: [{ from, to }],
  costByWeek: [from],
  failureGroups: [scope],
  retryableOf: [run, ['hubspot']],
  failureRecords: [group, { since: from, after: 0n, limit: 10 }],
  liveRuns: [to, 10],
  parkedGroups: [],
  openLookups: [],
  moneyNow: [to, ['day:2026-11-25']],
  runHeads: [{ limit: 10 }],
  runHead: [run],
  funnels: [[run]],
  runReasons: [run],
  runRecords: [run, { limit: 10 }],
  waitingBySlot: [run],
  runLive: [run, to],
  spendDays: [from, to],
  spendTotals: [],
  knownAnswers: [['company.lookup']],
  madeCounts: [[run]],
  originsOf: [{ connector: 'hubspot', entities: ['companies'], ids: ['1'] }],
  ledgerMetrics: [to],
  oldestPress: [],
  taskDetail: [1n],
  writesOfTask: [1n],
  lookupsOfTasks: [record],
  lookupsWithCharges: [['company.lookup|none']],
  chargesOfRunAnd: [run, []],
  spendOnLookups: [['company.lookup|none']],
  paidByRuns: [[run], ['company.lookup|none']],
  tasksOfRecord: [record],
  identitiesIn: [run, ['1']],
  countWithReason: [run, 'none'],
  reportedRuns: [{ from, to }],
  reportedFields: [{ from, to }],
  reportedLeftOut: [{ from, to }],
  reportedDays: [{ from, to }],
  lastOfSource: [head],
  exportedRecords: [run, { after: 0, limit: 10 }],
  runFigures: [run],
  runOccurrence: [run],
  seenAnswers: [['company.lookup']],
  seenChains: [],
  spendBy: ['connector'],
  refusals: [],
}
/** Parts of queries. */
const parts = ['filledFields', 'isRecord']

/** Runs every view of `src/store/views` over a connection that refuses to write. Returns their names, and those known here. */
export async function viewReads(pool: LedgerPool): Promise<Record<'called' | 'known', string[]>> {
  const db: Database = new Kysely<Tables>({ dialect: createLedgerDialect(pool) })
  const called: string[] = []
  try {
    for (const file of globSync('src/store/views/*.ts', { cwd: root })) {
      const module = (await import(join(root, file))) as Record<string, unknown>
      for (const [name, view] of Object.entries(module)) {
        if (typeof view !== 'function' || parts.includes(name)) continue
        const given = views[name]
        if (!given) throw new Error(`${file}: ${name} is not among the views of this test`)
        const result = (view as (...all: unknown[]) => unknown)(db, ...given)
        if (result && typeof result === 'object' && Symbol.asyncIterator in result) {
          for await (const _ of result as AsyncIterable<unknown>);
        } else await result
        called.push(name)
      }
    }
  } finally {
    await db.destroy()
  }
  return { called: called.sort(), known: Object.keys(views).sort() }
}
