import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { forget, planForget } from '../../src/app/records/forget.ts'
import { readIdentifiers } from '../../src/app/records/suppress.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { dumpLedger, tracesIn } from '../support/dump-ledger.ts'
import { sharedKinds } from './crm-worlds.ts'
import { nameOf, openListWorld, type ListWorld } from './lists-create.fixture.ts'

let sandbox: Sandbox
let world: ListWorld

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(() => world.close())

test.each(sharedKinds)(
  'in %s nothing of a forgotten company is left in pages, rows, plans, drafts, snapshots, reservations and index, and its records are named',
  async (kind) => {
    world = await openListWorld(sandbox, kind)
    const rows = await world.fetch()
    const row = rows.find(({ values }) => values['profnet_url'] !== undefined)!
    const [domain, profile] = [String(row.values['domain']), String(row.values['profnet_url'])]
    await world.index()
    const waiting = await world.plan()
    const { runId } = await world.apply((await world.plan()).planId)
    const [made] = (await world.made()).filter(({ identity }) => identity.domain === domain)
    const byHand = world.add({
      [nameOf[kind]]: 'Entered by hand',
      [{ hubspot: 'profnet_url', salesforce: 'Profnet_URL__c' }[kind]]: profile,
    })
    await world.index()

    const path = profile.slice(profile.indexOf('/company/'))
    const words = [domain, path, String(row.values['company_name'])]
    const tablesOf = (lines: string[]) => [...new Set(lines.map((line) => line.split(':')[0]))]
    expect(tablesOf(tracesIn(await dumpLedger(world.context), words))).toEqual(
      expect.arrayContaining([
        'created_records',
        'list_rows',
        'list_row_identities',
        'lookups',
        'plan_records',
        'record_identities',
        'reserved_identities',
        'tasks',
      ]),
    )
    const named = readIdentifiers({ profile_url: [profile] })
    const { inCrms } = await planForget(world.context, named, { suppress: true })
    expect(inCrms.map(({ id }) => id).sort()).toEqual([String(made?.record_id), byHand].sort())
    expect((await forget(world.context, named, { suppress: true })).inCrms).toEqual(inCrms)
    expect(tracesIn(await dumpLedger(world.context), words)).toEqual([])
    expect(await world.takeBack(runId)).toMatchObject({ archived: 4 })
    await world.apply(waiting.planId, { waitMs: 1 })
    expect(tracesIn(await dumpLedger(world.context), words)).toEqual([])
  },
)
