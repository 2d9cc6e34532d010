import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { errorCode } from '../../src/domain/error-codes.ts'
import type { LookupKey } from '../../src/domain/keys.ts'
import {
  confirm,
  operationStates,
  resumeOperation,
  stopOperation,
  unparkMoved,
  type OperationPlace,
} from '../../src/store/contract/operation-states.ts'
import { releaseProbe, takeProbe } from '../../src/store/contract/operation-probes.ts'
import { expireAnswer, sentRequestOf } from '../../src/store/contract/sent-request.ts'
import type { Database } from '../../src/store/database/database.ts'
import { contract } from '../../src/store/migrations/0021-0030/0021-contract.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'
import type { Ledger } from '../support/idle-ledgers.ts'
import { openLedgerRun } from '../support/ledger-run.ts'

let ledger: Ledger
let db: Database
beforeAll(async () => {
  ledger = await openFreshLedger()
  db = ledger.database.db
})
afterAll(() => ledger?.close())

const at = (seconds: number) => new Date(Date.UTC(2026, 10, 1, 0, 0, seconds))
const jobs: OperationPlace = {
  operation: 'job.search',
  part: '',
  place: 'POST https://service.example/jobs/search',
}
const unreadable = { code: 'unreadable', reason: 'could not be read' }
const probe = (key: LookupKey | undefined, seconds: number, forSeconds = 60, place = jobs) =>
  takeProbe(db, place, {
    key: key as LookupKey,
    until: at(seconds + forSeconds),
    now: at(seconds),
    unreadable,
  })

test('one lookup at a time has the only request of an operation, until its time is over or it is given back', async () => {
  const { keys, reserve } = await openLedgerRun(ledger.database, { lookups: 3, now: () => at(0) })
  const [a, b, c] = keys
  const races = await Promise.all(keys.map((key) => probe(key, 0)))
  expect(races.filter((each) => each === 'taken')).toHaveLength(1)
  const [holder, ...others] = races[0] === 'taken' ? [a, b, c] : races[1] === 'taken' ? [b, a, c] : [c, a, b]
  expect(await probe(holder, 1)).toBe('taken')
  expect(await probe(others[0], 60)).toEqual({ state: 'busy', holder })
  // The others cannot give it back.
  await releaseProbe(db, jobs, others[0] as LookupKey, at(0))
  expect(await probe(others[0], 60)).toEqual({ state: 'busy', holder })
  expect(await probe(others[0], 61)).toBe('taken')
  // Its payment may have been taken: nobody else asks before that is known.
  await reserve(others[0] as LookupKey, [{ scope: 'probe', capAtomic: 10_000n }])
  expect(await probe(others[1], 500)).toEqual({ state: 'busy', holder: others[0] })
  expect(await probe(others[0], 500)).toBe('taken')
  // By API key it is sent again after a 408 alone, and not by a process that was killed.
  const charge = (protocol: string, state: string, reason: string | null, dueAt: Date) =>
    sql`with charge as (update charges set protocol = ${protocol}, state = ${state}, reason = ${reason} where lookup_key = ${others[0]})
      update lookups set due_at = ${dueAt} where key = ${others[0]}`.execute(db)
  await charge('api_key', 'in_doubt', errorCode.notInTime, at(500))
  expect(await probe(others[1], 559)).toEqual({ state: 'busy', holder: others[0] })
  expect(await probe(others[1], 561)).toEqual({ state: 'busy', holder: others[0] })
  await charge('api_key', 'sent', null, at(500))
  expect(await probe(others[1], 559)).toEqual({ state: 'busy', holder: others[0] })
  expect(await probe(others[1], 561, 0)).toBe('taken')
  expect(await probe(others[0], 562, 1)).toBe('taken')
  await charge('api_key', 'in_doubt', errorCode.notInTime, at(500))
  expect(await probe(others[1], 1_200, 0)).toBe('taken')
  expect(await probe(others[0], 1_201, 0)).toBe('taken')
  await sql`update lookups set state = 'parked' where key = ${others[0]}`.execute(db)
  expect(await probe(others[1], 1_300)).toBe('taken')
  await releaseProbe(db, jobs, others[1] as LookupKey, at(1_300))
  expect(await probe(holder, 1_300)).toBe('taken')
  await releaseProbe(db, jobs, holder as LookupKey, at(0))
})

test('a confirmed or stopped operation gives no probe, each part and address for itself', async () => {
  const { keys } = await openLedgerRun(ledger.database, { lookups: 2, now: () => at(0) })
  const [key, other] = keys
  expect(await probe(key, 0)).toBe('taken')
  await confirm(db, jobs, at(1))
  const confirmed = {
    ...jobs,
    state: 'confirmed',
    code: null,
    reason: null,
    since: at(1),
    confirmedAt: at(1),
  }
  expect(await probe(other, 2)).toEqual(confirmed)
  await confirm(db, jobs, at(9))
  expect(await operationStates(db)).toEqual([confirmed])

  const moved = { ...jobs, place: 'POST https://service.example/v2/jobs' }
  expect(await probe(other, 3, 60, moved)).toBe('taken')
  expect(await probe(key, 3, 60, { ...moved, part: 'batch' })).toBe('taken')
  await stopOperation(db, moved, { code: 'no_such_endpoint', reason: 'answers 404' }, at(4))
  expect(await probe(key, 5, 60, moved)).toMatchObject({
    state: 'stopped',
    code: 'no_such_endpoint',
    confirmedAt: null,
  })
  expect(await probe(key, 5)).toBe('taken')
  await sql`delete from operation_probes`.execute(db)
})

test('resuming makes the parked lookups of the operation due, and puts it on probation again', async () => {
  const { keys, lookups, run } = await openLedgerRun(ledger.database, { lookups: 4, now: () => at(0) })
  const [key, other, budget, passed] = keys as [LookupKey, LookupKey, LookupKey, LookupKey]
  const here: OperationPlace = {
    operation: 'company.profile',
    part: '',
    place: 'POST https://service.example/x',
  }
  await stopOperation(db, here, { code: 'no_such_endpoint', reason: 'answers 404' }, at(0))
  for (const each of [key, other])
    await lookups.park(each, null, { code: errorCode.operationStopped, reason: 'stopped' })
  // No record waits for this one any more: it would be bought for nothing.
  await lookups.park(passed, null, { code: errorCode.operationStopped, reason: 'stopped' })
  for (const each of [key, other, budget])
    await sql`insert into tasks (run_id, ordinal, record_id, identity, status, waiting_for, updated_at)
      values (${run.id}, ${keys.indexOf(each)}, 'r', '{}', 'parked', ${each}, ${at(0)})`.execute(db)
  await lookups.park(budget, null, { code: 'budget_run', reason: 'spent' })
  const due = () => lookups.lease(9, 1_000, false, { runId: run.id })
  expect(await due()).toEqual([])
  expect(await unparkMoved(db, [here], at(0))).toBe(0)
  expect(await resumeOperation(db, 'company.profile', at(0))).toBe(2)
  expect((await due()).sort()).toEqual([key, other].sort())
  expect(await resumeOperation(db, 'company.profile', at(0))).toBeUndefined()
  expect(await probe(key, 0, 60, here)).toBe('taken')

  await stopOperation(db, here, { code: 'no_such_endpoint', reason: 'answers 404' }, at(0))
  await lookups.park(key, null, { code: errorCode.operationStopped, reason: 'stopped' })
  expect(await unparkMoved(db, [{ ...here, place: 'POST https://service.example/y' }], at(0))).toBe(1)
})

test('a lookup that is parked as its operation is let go on is due all the same', async () => {
  const { keys, lookups, run } = await openLedgerRun(ledger.database, { lookups: 1, now: () => at(0) })
  await resumeOperation(db, 'company.profile', at(0))
  await lookups.park(keys[0] as LookupKey, null, { code: errorCode.operationStopped, reason: 'stopped' })
  expect(await lookups.lease(9, 1_000, false, { runId: run.id })).toEqual(keys)
})

test.each([
  ['found', 'confirmed'],
  ['not_found', 'confirmed'],
  ['unreadable', 'stopped'],
])('the answer %s of a holder that has died says that its operation is %s', async (outcome, state) => {
  const { keys } = await openLedgerRun(ledger.database, { lookups: 2, now: () => at(0) })
  const [holder, next] = keys
  const ads: OperationPlace = {
    operation: 'advertisement.search',
    part: '',
    place: `POST https://${outcome}.example/x`,
  }
  expect(await probe(holder, 0, 60, ads)).toBe('taken')
  await sql`update lookups set state = 'answered', outcome = ${outcome}, answered_at = ${at(1)} where key = ${holder}`.execute(
    db,
  )
  expect(await probe(next, 2, 60, ads)).toMatchObject({
    state,
    code: state === 'stopped' ? 'unreadable' : null,
  })
  expect(await probe(next, 3, 60, ads)).toMatchObject({ state, since: at(2) })
})

test('the answers to the lookups of a batch say it for batches, and its start does', async () => {
  const { keys, run } = await openLedgerRun(ledger.database, { lookups: 4, now: () => at(0) })
  const [first, member, next, started] = keys
  const batches: OperationPlace = {
    operation: 'contact.lookup',
    part: 'batch',
    place: 'POST https://service.example/b',
  }
  expect(await probe(first, 0, 60, batches)).toBe('taken')
  const batch = `bundle|${run.id}` as LookupKey
  await sql`update lookups set key = ${batch}, state = 'answered', outcome = 'found' where key = ${first}`.execute(
    db,
  )
  await sql`insert into bundle_members (bundle_key, lookup_key, place) values (${batch}, ${member}, 0)`.execute(
    db,
  )
  await sql`update lookups set state = 'answered', outcome = 'unreadable' where key = ${member}`.execute(db)
  expect(await probe(next, 1, 60, batches)).toMatchObject({ state: 'stopped' })

  const elsewhere = { ...batches, place: 'POST https://service.example/c' }
  expect(await probe(started, 0, 60, elsewhere)).toBe('taken')
  await sql`update lookups set query_id = 'q' where key = ${started}`.execute(db)
  expect(await probe(next, 1, 60, elsewhere)).toMatchObject({ state: 'confirmed' })
})

test('the answers of an older ledger confirm their operations, by part, with the date of the first', async () => {
  const { keys, run } = await openLedgerRun(ledger.database, { lookups: 5, now: () => at(0) })
  await sql`update lookups set outcome = null`.execute(db)
  const [single, later, unreadable, batched, member] = keys
  const answered = async (key: LookupKey | undefined, operation: string, outcome: string, seconds: number) =>
    void (await sql`update lookups set operation = ${operation}, outcome = ${outcome}, state = 'answered', answered_at = ${at(seconds)}
      where key = ${key}`.execute(db))
  await answered(single, 'person.lookup', 'not_found', 20)
  await answered(later, 'person.lookup', 'found', 30)
  await answered(unreadable, 'news.search', 'unreadable', 10)
  await answered(member, 'contact.redeem', 'found', 40)
  const batch = `bundle|${run.id}` as LookupKey
  await sql`update lookups set key = ${batch}, query_id = 'q' where key = ${batched}`.execute(db)
  await answered(batch, 'contact.redeem', 'found', 40)
  await sql`insert into bundle_members (bundle_key, lookup_key, place) values (${batch}, ${member}, 0)`.execute(
    db,
  )

  await sql`truncate operation_states`.execute(db)
  const fill = contract.slice(
    contract.indexOf('insert into'),
    contract.indexOf('group by operation, part;') + 24,
  )
  await sql.raw(fill).execute(db)
  expect(
    (await operationStates(db)).map(({ operation, part, place, confirmedAt }) => [
      operation,
      part,
      place,
      confirmedAt,
    ]),
  ).toEqual([
    ['contact.redeem', 'answer', null, at(40)],
    ['contact.redeem', 'batch', null, at(40)],
    ['person.lookup', '', null, at(20)],
  ])
})

test('an answer is made stale once, and not the one that has taken its place', async () => {
  const { keys } = await openLedgerRun(ledger.database, { lookups: 2, now: () => at(0) })
  const [key, free] = keys as [LookupKey, LookupKey]
  const answer = (answered: string) =>
    sql`update lookups set state = 'answered', outcome = 'found', answer = '{}', answered_at = ${answered}::timestamptz,
      fresh_until = ${at(9_000)} where key = ${key}`.execute(db)
  await answer('2026-11-01T00:00:01.123456Z')
  const read = new Date('2026-11-01T00:00:01.123Z')
  // Both have read the first answer. The second comes when the first has bought anew.
  expect(await expireAnswer(db, key, read, at(10))).toBe(true)
  expect(await expireAnswer(db, key, read, at(11))).toBe(false)
  await answer('2026-11-01T00:00:20Z')
  expect(await expireAnswer(db, key, read, at(21))).toBe(false)
  expect(await sentRequestOf(db, free)).toBeUndefined()
})
