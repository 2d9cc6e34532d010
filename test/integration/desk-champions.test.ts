import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDeskChampions, type DeskChampions } from '../../src/app/web/watching/desk-champions.ts'
import type { Verdict } from '../../src/domain/champions/moved.ts'
import type { LookupKey } from '../../src/domain/keys.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { saveChampion } from '../../src/store/champions/champions.ts'
import { openCrmHouse, quick, type CrmHouse } from './crm-house.ts'
import { openBareDesk, type BareDesk } from './desk-fixture.ts'

const people = 60
const checkedAt = new Date('2026-11-20T08:00:00Z')
let sandbox: Sandbox
let house: CrmHouse
let champions: DeskChampions
let desk: BareDesk

beforeAll(async () => {
  sandbox = await startSandbox()
  house = await openCrmHouse(sandbox, {
    config: { connectors: quick, champions: { customers: { connector: 'hubspot' } } } as never,
  })
  for (let at = 0; at < people; at += 1) {
    const verdict: Verdict = at < 28 ? 'moved' : at === 28 ? 'unclear' : 'stays'
    await saveChampion(
      house.context.database.db,
      { watch: 'customers', connector: 'hubspot', entity: 'contacts' },
      {
        recordId: String(1_000 + at),
        profileUrl: `https://www.profnet.com/in/p${at}`,
        checkedAt,
        lookupKey: `key-${at}` as LookupKey,
        verdict,
        known: { domain: 'before.example', title: 'Buyer' },
        employer:
          verdict === 'moved'
            ? { profileUrl: null, domain: 'after.example', name: 'After Ltd', title: 'Head of Buying' }
            : null,
        leftAt: verdict === 'moved' ? checkedAt : null,
      },
    )
  }
  champions = createDeskChampions(house.context, new AbortController().signal)
  desk = await openBareDesk({ ports: { champions } })
})
afterAll(async () => {
  await desk.close()
  await house.close()
  await sandbox.stop()
})

const page = async (who: Awaited<ReturnType<BareDesk['as']>>, path: string) => (await who.ask(path)).text()
const records = (text: string) => text.match(/\/records\?q=hubspot%3Acontacts%3A\d+/g) ?? []

test('people come by verdict with the employers of before and after, a page at a time', async () => {
  const vera = await desk.as('vera')
  const first = await page(vera, '/champions')
  expect(records(first)).toHaveLength(25)
  expect(first).toMatch(/moved <span>28<\/span>/)
  expect(first).toMatch(/before\.example[\s\S]*After Ltd/)
  expect(records(await page(vera, '/champions?page=3'))).toHaveLength(10)
  expect(records(await page(vera, '/champions?page=99'))).toHaveLength(10)
  expect(records(await page(vera, '/champions?verdict=moved&page=2'))).toHaveLength(3)
  expect(records(await page(vera, '/champions?verdict=unclear'))).toHaveLength(1)
  expect((await vera.ask('/champions?watch=nothing')).status).toBe(404)
})

test('operators alone act, with a token and an amount, and each action is audited', async () => {
  const [vera, otto] = [await desk.as('vera'), await desk.as('otto')]
  expect(await page(vera, '/champions')).not.toMatch(/action="\/champions/)
  expect((await vera.ask('/champions/customers/run', { form: { budget: '1' } })).status).toBe(403)
  expect((await otto.ask('/champions/customers/run', { form: { budget: '1', _csrf: 'x' } })).status).toBe(403)
  expect((await otto.ask('/champions/customers/run', { form: { budget: '0' } })).status).toBe(400)
  expect((await otto.ask('/champions/other/run', { form: { budget: '1' } })).status).toBe(404)
  expect(champions.job('customers')).toBeUndefined()

  const begun = await otto.ask('/champions/customers/plan', { form: {} })
  expect(begun.headers.get('location')).toBe('/champions?watch=customers&done=started_here')
  await champions.idle()
  expect(champions.job('customers')?.ended).toBeDefined()
  expect(
    (await desk.audit.list(20)).filter(({ action }) => action.startsWith('champions.')).at(-1),
  ).toMatchObject({ action: 'champions.plan', target: 'customers', actor: 'otto' })
})

test('a config without champions says what to do', async () => {
  const bare = await openBareDesk()
  try {
    expect(await page(await bare.as('vera'), '/champions')).toContain('Name them under champions')
  } finally {
    await bare.close()
  }
})
