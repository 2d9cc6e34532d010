import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { runPipeline } from '../../src/app/signals/writing/run-pipeline.ts'
import { hubspotMapping } from '../../src/connectors/hubspot/mapping.ts'
import { salesforceMapping } from '../../src/connectors/salesforce/mapping.ts'
import type { SignalField } from '../../src/domain/fields.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { worldCompanies } from '../../src/sandbox/world/companies.ts'
import { createWorld } from '../../src/sandbox/world/world.ts'
import { isFullSize, sized } from '../support/full-size.ts'
import { openCrmWorld, sharedKinds, type CrmKind, type CrmWorld } from './crm-worlds.ts'

let sandbox: Sandbox
let crm: CrmWorld
const signal = new AbortController().signal
const dayMs = 86_400_000
const begins = new Date('2037-11-23T08:00:00Z')
const operations = [
  'company.search',
  'job.search',
  'news.search',
  'advertisement.search',
  'cloud.search',
  'expansion.lookup',
]
const inCrm = {
  hubspot: { entity: 'companies', mapping: hubspotMapping, name: 'name', domain: 'domain' },
  salesforce: { entity: 'Account', mapping: salesforceMapping, name: 'Name', domain: 'Website' },
} as const

beforeAll(
  async () =>
    void (sandbox = await startSandbox({ apiKeys: { 'sandbox-key': { credit: 1e6, topupCredit: 0 } } })),
)
afterAll(() => sandbox.stop())
afterEach(() => crm.close())

async function watch(kind: CrmKind, count: number) {
  let at = begins
  sandbox.clock.set(at)
  const { entity, mapping, name, domain } = inCrm[kind]
  crm = await openCrmWorld(
    sandbox,
    kind,
    entity,
    {
      payment: { maxPricesUsd: Object.fromEntries(operations.map((operation) => [operation, '0.05'])) },
      signals: { moves: { accounts: { connector: kind } } },
    } as never,
    { now: () => at },
  )
  const companies = worldCompanies().slice(0, count)
  const ids = companies.map((company) => crm.add({ [name]: company.name, [domain]: company.domain }))
  const unknown = crm.add({ [name]: 'Nobody knows it', [domain]: 'nobody-knows-it.example' })
  return {
    ids,
    unknown,
    run: () => runPipeline(crm.context, 'moves', { budgetAtomic: 20_000_000n, signal }),
    pass(days: number) {
      at = new Date(at.getTime() + days * dayMs)
      sandbox.clock.set(at)
    },
    /** Returns a field of each account's record, as the CRM has it. */
    column: (field: SignalField) =>
      ids.map((id) => {
        const value = crm.state().get(id)?.[mapping.entities[entity]!.fields[field]!.property]
        return value === undefined ? undefined : String(value)
      }),
    /** The same by the world itself. */
    truth() {
      const today = createWorld(sandbox.clock).today()
      const runs = ({ day, lastDay }: { day: number; lastDay: number | null }) =>
        day <= today.day && (lastDay ?? Infinity) >= today.day
      return companies.map((company) => ({
        jobs: String(
          today.jobs.of(company).filter((job) => job.day > today.day - 150 && job.closedDay === null).length,
        ),
        advertising: today.advertisements.of(company).some(runs),
        clouds:
          [...new Set(today.footprints.of(company).map(({ provider }) => provider))].sort().join('; ') ||
          undefined,
      }))
    },
  }
}

describe.skipIf(!isFullSize).each(sharedKinds)('a run of a pipeline, in %s', (kind) => {
  const flag = (value: boolean) => (kind === 'hubspot' ? String(value) : value ? 'Yes' : 'No')

  test('writes what the world shows, once, and undo takes all of it back', async () => {
    const { run, pass, column, truth, ids, unknown } = await watch(kind, sized(60, 8))
    const before = crm.state()
    const check = () => {
      expect(column('open_jobs')).toEqual(truth().map(({ jobs }) => jobs))
      expect(column('advertising')).toEqual(truth().map(({ advertising }) => flag(advertising)))
      expect(column('cloud_providers')).toEqual(truth().map(({ clouds }) => clouds))
    }
    const first = await run()
    expect(first).toMatchObject({ end: 'complete', unmatched: 1 })
    expect(first.records).toMatchObject({ written: ids.length, rejected: 0, end: 'finished' })
    check()
    expect(crm.state().get(unknown)).toEqual(before.get(unknown))
    const [checkedAt] = column('signals_checked_at')
    expect(column('signals_checked_at')).toEqual(ids.map(() => checkedAt))

    const repeat = await run()
    expect(repeat).toMatchObject({ bought: 0, records: { runId: undefined } })

    pass(30)
    const later = await run()
    expect(later.records).toMatchObject({ rejected: 0, end: 'finished' })
    check()
    expect(column('open_jobs_change_30d').every((change) => change !== undefined)).toBe(true)
    expect(column('signal_score_change_7d').every((change) => change !== undefined)).toBe(true)
    expect(column('signals_checked_at')).not.toContain(checkedAt)

    for (const each of [later, first]) {
      const undone = await crm.undo(each.records!.runId!)
      expect(undone).toMatchObject({ left: 0, rows: [], unfinished: undefined })
    }
    expect(crm.state()).toEqual(before)
  })
})
