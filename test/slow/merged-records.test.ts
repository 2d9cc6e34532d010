import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { historyOf } from '../../src/app/records/history.ts'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openCrmHouse, type CrmHouse, type Properties } from '../integration/crm-house.ts'

let sandbox: Sandbox
let house: CrmHouse

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(() => house.close())

const urlOf = (name: string) => `https://www.profnet.com/company/${name}`
/** Names of companies whose description the service knows. */
const known = Array.from({ length: 100 }, (_, index) => `merged-co-${index}`).filter(
  (name) => companyAnswer(urlOf(name)).data?.description,
)
const add = (name: string, more: Properties = {}): string =>
  house.add('companies', { name, profnet_url: urlOf(name), ...more })
const merge = (winner: string, loser: string): string => house.hubspot.store.merge('companies', winner, loser)
const valueOf = (id: string, property: string): string | undefined =>
  house.hubspot.store.get('companies', id)?.properties[property]
const history = (id: string) => historyOf(house.context, { connector: 'hubspot', object: 'companies', id })

describe('a record that was merged after we wrote to it', () => {
  test('has the history of both under its new id, and through a second merge', async () => {
    house = await openCrmHouse(sandbox)
    const [a, b, c] = known.slice(0, 3).map((name) => add(name))
    await house.sync('companies')
    const before = await Promise.all([a!, b!, c!].map(history))
    expect(before.every(({ fields }) => fields.length > 0)).toBe(true)

    const first = merge(a!, b!)
    await house.sync('companies', undefined, { since: new Date(0) })
    expect((await history(first)).mergedFrom.sort()).toEqual([a!, b!].sort())
    const second = merge(first, c!)
    await house.sync('companies', undefined, { since: new Date(0) })

    const after = await history(second)
    expect(after.mergedFrom.sort()).toEqual([a!, b!, c!, first].sort())
    const lookups = (all: readonly { fields: { lookup: string | null }[] }[]) =>
      new Set(all.flatMap(({ fields }) => fields.map(({ lookup }) => lookup)))
    expect(lookups([after])).toEqual(lookups(before))
    expect((await history(a!)).mergedInto).toBe(second)
  })

  test('keeps what a person did: a value of ours that was edited is locked under the new id too', async () => {
    house = await openCrmHouse(sandbox, {
      config: { policies: { hubspot: { description: 'overwrite_ours' } } },
    })
    const [a, b] = known.slice(0, 2).map((name) => add(name))
    await house.sync('companies')
    house.edit('companies', a!, { description: 'By hand' })
    const merged = merge(a!, b!)
    await house.sync('companies', undefined, { since: new Date(0) })
    expect(valueOf(merged, 'description')).toBe('By hand')
    house.edit('companies', merged, { description: '' })
    await house.sync('companies', undefined, { since: new Date(0) })
    // Cleared by a person: under its new id too, nothing is written there again.
    expect(valueOf(merged, 'description')).toBeUndefined()
  })

  test('is undone where its values are now', async () => {
    house = await openCrmHouse(sandbox)
    const [a, b, c] = known.slice(0, 3).map((name) => add(name))
    const bare = house.seen('companies')
    const { summary } = await house.sync('companies')
    expect(valueOf(a!, 'description')).toBeDefined()
    const merged = merge(a!, b!)

    const plan = await house.undo(summary.runId, { plan: true })
    expect(plan.rows).toContainEqual(
      expect.objectContaining({
        record: a,
        field: 'description',
        outcome: 'would_restore',
        mergedInto: merged,
      }),
    )
    const undone = await house.undo(summary.runId)
    expect(undone.restored).toBe(plan.restored)
    expect(house.seen('companies')).toEqual(
      new Map([
        [c!, bare.get(c!)],
        [merged, bare.get(a!)],
      ]),
    )
    // A second undo finds nothing to do.
    expect(await house.undo(summary.runId)).toMatchObject({ restored: 0 })
  })

  test('keeps a field in which the two had different values before', async () => {
    house = await openCrmHouse(sandbox, { config: { policies: { hubspot: { default: 'overwrite' } } } })
    const [name] = known
    const [a, b] = ['Of the first', 'Of the second'].map((description) => add(name!, { description }))
    const { summary } = await house.sync('companies')
    const written = valueOf(a!, 'description')
    expect(valueOf(b!, 'description')).toBe(written)
    const merged = merge(a!, b!)
    const { rows } = await house.undo(summary.runId)
    expect(rows.filter(({ field }) => field === 'description')).toEqual(
      [a, b].map((record) => ({
        record,
        field: 'description',
        outcome: 'left',
        reason: 'the records that were merged had different values before',
      })),
    )
    expect(valueOf(merged, 'description')).toBe(written)
  })
})
