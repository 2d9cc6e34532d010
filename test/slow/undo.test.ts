import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { profileValues } from '../../src/domain/fields.ts'
import type { Connector } from '../../src/connectors/connector.ts'
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
/** Names of companies that the service knows, and knows much of. */
const known = Array.from({ length: 200 }, (_, index) => `undo-co-${index}`).filter((name) => {
  const { data } = companyAnswer(urlOf(name))
  return data?.description && data.industry && profileValues('company', data)['street'] && data.founded_year
})

function fill(count: number, more: (index: number) => Properties = () => ({})): string[] {
  return known
    .slice(0, count)
    .map((name, index) =>
      house.add('companies', { name: `${name} ${index}`, profnet_url: urlOf(name), ...more(index) }),
    )
}

/** Does something once, after the lookups and before anything is written: the first re-reading is the moment. */
function beforeWriting(act: () => void) {
  let isDone = false
  return (inner: Connector): Connector => ({
    ...inner,
    read(entity, ids) {
      if (!isDone) act()
      isDone = true
      return inner.read(entity, ids)
    },
  })
}

async function writes(state?: string) {
  const rows = await house.context.database.db.selectFrom('field_writes').selectAll().orderBy('id').execute()
  return rows.filter((row) => state === undefined || row.state === state)
}

describe('the plan of an undo', () => {
  test('lists each field with its values, and the undo does exactly that', async () => {
    house = await openCrmHouse(sandbox)
    const ids = fill(3, () => ({ city: ' Zürich  ' })) as [string, string, string]
    const { summary } = await house.sync('companies')
    house.edit('companies', ids[0], { description: 'by hand' })
    house.edit('companies', ids[1], { description: '' })
    const written = (await writes()).filter(({ state }) => state !== 'rejected')
    const seen = house.seen('companies')

    const plan = await house.undo(summary.runId, { plan: true })
    expect(house.seen('companies')).toEqual(seen)
    expect(await writes('undone')).toEqual([])
    expect(plan.rows).toHaveLength(written.length)
    for (const row of written) {
      const planned = plan.rows.find((each) => each.record === row.record_id && each.field === row.field)
      expect(planned).toMatchObject({ new: row.new_value, old: row.old_raw ?? row.old_value })
    }
    const left = plan.rows.filter(({ outcome }) => outcome === 'left')
    expect(left).toMatchObject([
      { record: ids[0], field: 'description', now: 'by hand', reason: 'it has been changed since' },
    ])
    expect(plan.rows.filter(({ outcome }) => outcome === 'already')).toMatchObject([
      { record: ids[1], field: 'description', now: null, old: null },
    ])

    const undone = await house.undo(summary.runId)
    expect(undone.rows.map(({ record, field, reason }) => [record, field, reason])).toEqual(
      left.map(({ record, field, reason }) => [record, field, reason]),
    )
    expect(undone).toMatchObject({ restored: plan.restored, already: 1 })
    const restored = (await writes('undone')).map((row) => `${row.record_id} ${row.field}`)
    const planned = plan.rows.filter(({ outcome }) => outcome !== 'left')
    expect(restored.sort()).toEqual(planned.map(({ record, field }) => `${record} ${field}`).sort())
  })
})

describe('the undo of a run', () => {
  test('leaves the 20 fields that a person edited meanwhile, and restores all others byte for byte', async () => {
    house = await openCrmHouse(sandbox)
    const ids = fill(12, (index) => (index % 2 === 0 ? { city: ' Zürich  ', phone: '+41 44 / 123-45' } : {}))
    const mine: [string, Properties][] = ids
      .slice(0, 10)
      .map((id, index) => [id, { description: `by hand ${index}`, address: `Hand Street ${index}` }])
    expect(mine.flatMap(([, values]) => Object.keys(values))).toHaveLength(20)
    const before = house.seen('companies')
    const expected = new Map(before)
    for (const [id, values] of mine) expected.set(id, { ...before.get(id), ...values })

    const { summary } = await house.sync(
      'companies',
      beforeWriting(() => mine.forEach(([id, values]) => house.edit('companies', id, values))),
    )
    expect(summary).toMatchObject({ records: 12, tasks: { written: 12 } })
    const after = house.seen('companies')
    for (const [id, values] of mine) expect(after.get(id)).toMatchObject(values)
    const filled = ids.filter((id) => after.get(id)?.['domain'])
    expect(filled).toHaveLength(12)

    const plan = await house.undo(summary.runId, { plan: true })
    expect(plan.rows.filter(({ outcome }) => outcome === 'would_restore')).toHaveLength(plan.restored)
    expect(house.seen('companies')).toEqual(after)

    const undone = await house.undo(summary.runId)
    expect(undone).toMatchObject({ restored: plan.restored, left: 0, already: 0 })
    expect(undone.restored).toBe((await writes('undone')).length)
    expect(house.seen('companies')).toEqual(expected)

    const again = await house.undo(summary.runId)
    expect(again).toMatchObject({ restored: 0, already: 0, left: 0, rows: [] })
    expect(house.seen('companies')).toEqual(expected)
  })

  test('leaves what a person changed or cleared since, says so, and takes one field when it is asked to', async () => {
    house = await openCrmHouse(sandbox, { config: { policies: { hubspot: { street: 'overwrite' } } } })
    const ids = fill(3, () => ({ address: 'Old Street 7' }))
    const before = house.seen('companies')
    const { summary } = await house.sync('companies')
    const [changed = '', cleared = ''] = ids
    expect(house.seen('companies').get(changed)?.['address']).not.toBe('Old Street 7')
    house.edit('companies', changed, { description: 'a person wrote this' })
    house.edit('companies', cleared, { description: '' })

    const address = await house.undo(summary.runId, { field: 'street' })
    expect(address).toMatchObject({ restored: 3, left: 0 })
    for (const id of ids) {
      expect(house.seen('companies').get(id)?.['address']).toBe('Old Street 7')
      if (id !== cleared) expect(house.seen('companies').get(id)?.['description']).toBeTruthy()
    }

    const rest = await house.undo(summary.runId)
    expect(rest.rows).toEqual([
      { record: changed, field: 'description', outcome: 'left', reason: 'it has been changed since' },
    ])
    // A field that was blank before and that a person has cleared counts as before.
    expect(rest.already).toBe(1)
    expect(house.seen('companies')).toEqual(
      new Map(before).set(changed, { ...before.get(changed), description: 'a person wrote this' }),
    )
  })

  test('goes on after a crash between a write and its mark, and writes nothing twice', async () => {
    house = await openCrmHouse(sandbox)
    fill(5)
    const before = house.seen('companies')
    const { summary } = await house.sync('companies')
    const { connector } = house
    const dies: Connector = {
      ...connector,
      async write(entity, patches) {
        await connector.write(entity, patches)
        throw new Error('the process died here')
      },
    }
    await expect(house.undo(summary.runId, { connector: dies })).rejects.toThrow('the process died here')
    expect(house.seen('companies')).toEqual(before)
    let sent = 0
    const counts: Connector = {
      ...connector,
      write: (entity, patches) => {
        sent += patches.length
        return connector.write(entity, patches)
      },
    }
    const undone = await house.undo(summary.runId, { connector: counts })
    expect(undone).toMatchObject({ restored: 0, left: 0, already: (await writes('undone')).length })
    expect(undone.already).toBeGreaterThan(20)
    expect(sent).toBe(0)
    expect(house.seen('companies')).toEqual(before)
  })
})

describe('what was written', () => {
  test('is kept with its old value, source and price, and the prices add up to what was paid', async () => {
    house = await openCrmHouse(sandbox, { config: { policies: { hubspot: { founded_year: 'overwrite' } } } })
    const [id = ''] = fill(4, () => ({ founded_year: '1066' }))
    const { summary } = await house.sync('companies')
    const history = await historyOf(house.context, { connector: 'hubspot', object: 'company', id })
    const answer = companyAnswer(urlOf(known[0] as string)).data
    expect(history.tasks).toEqual([expect.objectContaining({ run: summary.runId, status: 'written' })])
    expect(history.fields.find(({ field }) => field === 'founded_year')).toMatchObject({
      old: '1066',
      new: String(answer?.founded_year),
      state: 'written',
      run: summary.runId,
      lookup: expect.stringContaining(`company.profile|profnet.com/company/${known[0]}`),
    })
    expect(history.fields.find(({ field }) => field === 'description')).toMatchObject({ old: null })
    const paid = (await writes('written')).reduce((sum, row) => sum + row.price_atomic, 0n)
    expect(paid).toBe(40_000n)
    expect(summary.spend.settled).toBe('0.040000')
  })

  test('is counted once when the process dies between the write and the storing of its results', async () => {
    house = await openCrmHouse(sandbox, { config: { policies: { hubspot: { founded_year: 'overwrite' } } } })
    fill(4, () => ({ founded_year: '1066' }))
    const before = house.seen('companies')
    let attempts = 0
    const { summary, end } = await house.sync('companies', (inner) => ({
      ...inner,
      async write(entity, patches) {
        attempts += 1
        const results = await inner.write(entity, patches)
        // The first time everything behind the CRM's answer is lost, as when the process is killed there.
        if (attempts === 1)
          return results.map(({ id }) => ({ id, status: 'retry', afterMs: 1, reason: 'died' }))
        return results
      },
    }))
    expect(end).toBe('finished')
    expect(summary).toMatchObject({ tasks: { written: 4, unchanged: 0 } })
    const all = await writes()
    // Industries that the account has no option for are kept as refused, and there is nothing to put back of them.
    const rows = all.filter(({ state }) => state !== 'rejected')
    expect(all.every(({ state, field }) => state !== 'rejected' || field === 'industry')).toBe(true)
    expect(new Set(rows.map((row) => `${row.record_id} ${row.field}`)).size).toBe(rows.length)
    expect(rows.every(({ state }) => state === 'written')).toBe(true)
    expect(rows.filter(({ field }) => field === 'founded_year').map(({ old_value }) => old_value)).toEqual([
      '1066',
      '1066',
      '1066',
      '1066',
    ])
    const undone = await house.undo(summary.runId)
    expect(undone).toMatchObject({ restored: rows.length, left: 0 })
    expect(house.seen('companies')).toEqual(before)
  })

  test('locks a field when a person edits it, and says so', async () => {
    house = await openCrmHouse(sandbox, {
      config: { policies: { default: 'overwrite_ours', hubspot: { industry: 'never' } } },
    })
    const [id = ''] = fill(1)
    await house.sync('companies')
    const fields = (await writes('written')).map(({ field }) => field)
    expect(fields).toContain('description')
    const now = house.seen('companies').get(id) ?? {}
    const edits = Object.fromEntries(
      Object.keys(now)
        .filter(
          (name) => !['name', 'profnet_url', 'country', 'numberofemployees', 'founded_year'].includes(name),
        )
        .map((name) => [
          name,
          name === 'industry' ? 'BANKING' : name === 'domain' ? 'person.example' : `person's ${name}`,
        ]),
    )
    house.edit('companies', id, edits)
    const { summary } = await house.sync('companies', (inner) => inner, { since: new Date(0) })
    expect(summary).toMatchObject({ tasks: { unchanged: 1, written: 0 } })
    expect(summary.reasons?.[0]?.reason).toMatch(
      /^edited by a person: .*description.*; never written by policy: industry/,
    )
    expect(house.seen('companies').get(id)).toMatchObject(edits)
  })
})
