import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { syncEntity } from '../../src/app/runs/sync.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openCrmHouse } from './crm-house.ts'

let sandbox: Sandbox
beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000)
const url = (name: string) => `https://www.profnet.com/company/refresh-${name}`

test('a refresh looks up again what was answered longest ago, as far as the budget reaches', async () => {
  const house = await openCrmHouse(sandbox)
  try {
    const { context, connector } = house
    const { db } = context.database
    const entity = 'companies'
    const signal = new AbortController().signal
    const refresh = async (runUsd: bigint) => {
      context.config.caps.runAtomic = runUsd
      const { end, summary } = await syncEntity(
        context,
        connector,
        { entity, filter: [], refresh: true },
        { signal },
      )
      expect(end).toBe('finished')
      return summary
    }
    const ids = new Map(
      ['a', 'b', 'c', 'd', 'e'].map((name) => [house.add(entity, { name, profnet_url: url(name) }), name]),
    )
    expect((await house.sync(entity)).summary.lookups.paid).toBe(5)
    expect((await refresh(30_000n)).records).toBe(0)
    // All but e are past their 90 days; a is the oldest, b the next.
    for (const [name, days] of [
      ['a', 130],
      ['b', 120],
      ['c', 110],
      ['d', 100],
    ] as const) {
      await db
        .updateTable('lookups')
        .set({ answered_at: daysAgo(days), fresh_until: daysAgo(days - 90), queued_until: null })
        .where(sql<boolean>`key like ${`company.profile|%refresh-${name}`}`)
        .execute()
    }
    const first = await refresh(30_000n)
    expect(first).toMatchObject({ records: 3, lookups: { paid: 3, cached: 0 } })
    const asked = await db
      .selectFrom('tasks')
      .select('record_id')
      .where('run_id', '=', first.runId)
      .orderBy('ordinal')
      .execute()
    expect(asked.map((row) => ids.get(row.record_id))).toEqual(['a', 'b', 'c'])
    expect(await refresh(30_000n)).toMatchObject({ records: 1, lookups: { paid: 1 } })
    expect((await refresh(30_000n)).records).toBe(0)
  } finally {
    await house.close()
  }
})
