import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lookupKey } from '../../src/domain/keys.ts'
import type { OpenDatabase } from '../../src/store/database/database.ts'
import { skipTask } from '../../src/store/failures/retry-one.ts'
import { createLookupLedger } from '../../src/store/ledger/lookups.ts'
import { skipGroup } from '../../src/store/runs/retry-and-skip.ts'
import { createRunLedger } from '../../src/store/runs/runs.ts'
import { createTaskLedger } from '../../src/store/runs/tasks.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'
import { scannedTask } from '../support/scanned-task.ts'

let database: OpenDatabase
let close: () => Promise<void>
beforeAll(async () => void ({ database, close } = await openFreshLedger()))
afterAll(() => close())

const at = new Date('2026-05-05T05:05:05Z')
const now = () => at
const reason = 'the budget of this run (1.00 USD) is used up'

test.each(['one', 'group'] as const)(
  'a lookup that a second run has asked for, and whose record it has not stored yet, outlives the skip of %s',
  async (which) => {
    const { db } = database
    const [runs, tasks] = [createRunLedger(db, { now }), createTaskLedger(db, { now })]
    const lookups = createLookupLedger(db, { now })
    const key = lookupKey('company.profile', `profnet.test/company/${which}`)
    const kind = { connector: 'hubspot', object: 'company', entity: 'companies', recipe: 'profile' } as const
    async function askedBy() {
      const id = `run-${randomBytes(5).toString('hex')}`
      await runs.open({ id, ...kind, trigger: 'sync', fingerprint: id, source: {} })
      const wanted = { key, operation: 'company.profile', request: {} } as const
      await lookups.want([wanted], { id, connector: 'hubspot', hot: false })
      return id
    }
    const store = (id: string) => tasks.insertPage(id, [scannedTask(1, key)], 'page 1')
    const first = await askedBy()
    await store(first)
    await lookups.park(key, null, { code: 'budget_run', reason })
    const { id } = await db
      .selectFrom('tasks')
      .select('id')
      .where('run_id', '=', first)
      .executeTakeFirstOrThrow()

    const second = await askedBy()
    if (which === 'one') expect(await skipTask(db, id, { now: at, by: 'otto', why: '' })).toBe(true)
    else expect(await skipGroup(db, { code: 'budget_run', reason }, { now: at, by: 'otto' })).toBe(1)
    await store(second)
    expect(await lookups.get(key)).toMatchObject({ state: 'waiting', runId: second })
  },
)
