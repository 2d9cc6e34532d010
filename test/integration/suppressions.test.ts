import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { Identifier } from '../../src/domain/subjects/identifiers.ts'
import { goFirst } from '../../src/store/database/go-first.ts'
import { createSuppressionLedger } from '../../src/store/subjects/suppressions.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'
import type { Ledger } from '../support/idle-ledgers.ts'

let ledger: Ledger
let statements = 0
beforeAll(async () => void (ledger = await openFreshLedger({ onQuery: () => void statements++ })))
afterAll(() => ledger?.close())

const ann: Identifier = { kind: 'email', value: 'ann@acme.com' }
const bob: Identifier = { kind: 'email', value: 'bob@acme.com' }

test('while nobody is on the list no identifier is made out, and whoever is added is found at once', async () => {
  const list = createSuppressionLedger(ledger.database.db, {
    now: () => new Date('2026-11-26'),
    salt: async () => 'salt',
  })
  // An empty list is known for half a second.
  const clock = vi.spyOn(performance, 'now').mockReturnValue(0)
  const asked = vi.fn<() => Identifier[][]>(() => [[bob], [], [ann]])
  expect(await list.match(asked)).toEqual(new Set())
  const before = statements
  expect(await list.match(asked)).toEqual(new Set())
  expect(statements).toBe(before)
  expect(asked).not.toHaveBeenCalled()
  clock.mockRestore()

  await list.add([ann])
  expect(await list.match(asked)).toEqual(new Set([2]))
  expect(await list.match([[ann], [bob]])).toEqual(new Set([0]))
  expect(await list.match(() => [[bob]])).toEqual(new Set())
  expect(await list.match(() => [[], []])).toEqual(new Set())
  expect(await list.match([[]])).toEqual(new Set())
  await list.remove([ann])
  expect(await list.match(asked)).toEqual(new Set())
})

test('those who ask together ask once, and nobody has an answer from before somebody was added', async () => {
  const { db } = ledger.database
  await sql`delete from suppressions`.execute(db)
  const list = createSuppressionLedger(db, { now: () => new Date('2026-11-26'), salt: async () => 'salt' })
  const before = statements
  const together = Array.from({ length: 12 }, () => list.match([[ann]]))
  expect(await Promise.all(together)).toEqual(together.map(() => new Set()))
  expect(statements - before).toBe(1)
  // A press, for which somebody waits, asks alone.
  const others = createSuppressionLedger(db, { now: () => new Date('2026-11-26'), salt: async () => 'salt' })
  await Promise.all([others.match([[ann]]), goFirst(() => others.match([[ann]])), others.match([[ann]])])
  expect(statements - before).toBe(3)

  const fresh = createSuppressionLedger(db, { now: () => new Date('2026-11-26'), salt: async () => 'salt' })
  const early = fresh.match([[ann]])
  const added = fresh.add([ann])
  const late = fresh.match([[ann]])
  // On a server these three race each other, and each may come first.
  await Promise.all([early, added, late])
  expect(await fresh.match([[ann]])).toEqual(new Set([0]))
  expect(await fresh.match([[ann]], { isFresh: true })).toEqual(new Set([0]))
})

test('the older answer to somebody who is waited for hides nobody who was added meanwhile', async () => {
  const { db } = ledger.database
  await sql`delete from suppressions`.execute(db)
  const list = createSuppressionLedger(db, { now: () => new Date('2026-11-26'), salt: async () => 'salt' })
  const press = goFirst(() => list.match([[ann]]))
  await Promise.all([press, list.add([ann])])
  expect(await list.match([[ann]])).toEqual(new Set([0]))
})
