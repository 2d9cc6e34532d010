import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDeskSignals, type DeskSignals } from '../../src/app/web/watching/desk-signals.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openCrmHouse, quick, type CrmHouse } from './crm-house.ts'
import { openBareDesk, type BareDesk } from './desk-fixture.ts'
import { keepAccount, scoreDays, signalsConfig } from './signals-report.fixture.ts'

const accounts = 60
let sandbox: Sandbox
let house: CrmHouse
let signals: DeskSignals
let desk: BareDesk

beforeAll(async () => {
  sandbox = await startSandbox()
  house = await openCrmHouse(sandbox, {
    config: { ...signalsConfig, connectors: quick },
    overrides: { now: () => new Date('2026-11-23T12:00:00Z') },
  })
  for (let at = 0; at < accounts; at += 1) {
    const id = await keepAccount(
      house.context,
      { id: String(1_000 + at), name: at === 7 ? null : `Account ${at}`, stage: 'Scaling' },
      [
        {
          title: `Head of Sales ${at}`,
          link: at === 3 ? 'javascript:alert(1)' : `https://jobs.example/${at}`,
          about: { functions: ['sales'] },
          happened: at === 4 ? null : '2026-11-20',
          seen: '2026-11-21',
        },
      ],
    )
    await scoreDays(house.context, id, [
      { ago: 7, stage: 'Expanding' },
      { ago: 1, stage: 'Scaling' },
    ])
  }
  const gone = await keepAccount(house.context, { id: '1', name: 'It has left' }, [])
  await scoreDays(house.context, gone, [{ ago: 7 }, { ago: 4 }])
  signals = createDeskSignals(house.context, new AbortController().signal)
  desk = await openBareDesk({ ports: { signals } })
})
afterAll(async () => {
  await desk.close()
  await house.close()
  await sandbox.stop()
})

const page = async (who: Awaited<ReturnType<BareDesk['as']>>, path: string) => (await who.ask(path)).text()

test('accounts that moved come with evidence, a page at a time', async () => {
  const vera = await desk.as('vera')
  const first = await page(vera, '/signals')
  expect(first).toContain('Moved this week')
  expect(first.match(/\/signals\/account\?record=/g)).toHaveLength(25)
  expect(first).toMatch(/moved <span>60<\/span>/)
  expect(first).toMatch(/gone <span>1<\/span>/)
  expect(first).toContain('page=2')
  expect(first).toMatch(/Expanding[\s\S]*→[\s\S]*Scaling/)
  // An address that runs something stays a text.
  expect(first + (await page(vera, '/signals?page=2')) + (await page(vera, '/signals?page=3'))).not.toContain(
    'href="javascript:',
  )
  expect((await page(vera, '/signals?page=3')).match(/\/signals\/account\?record=/g)).toHaveLength(10)
  expect((await page(vera, '/signals?show=all&page=3')).match(/\/signals\/account\?record=/g)).toHaveLength(
    10,
  )
  expect((await page(vera, '/signals?show=all&page=99')).match(/\/signals\/account\?record=/g)).toHaveLength(
    10,
  )
  expect(await page(vera, '/signals?show=gone')).toContain('It has left')
  expect((await vera.ask('/signals?pipeline=nothing')).status).toBe(404)
})

test('an account has its addends and its timeline, and says which times are told', async () => {
  const vera = await desk.as('vera')
  const told = await page(vera, '/signals/account?record=hubspot:companies:1000')
  expect(told).toContain('Score in movers')
  expect(told).toContain('Head of Sales 0')
  expect(told).toContain('2026-11-20')
  expect(await page(vera, '/signals/account?record=hubspot:companies:1004')).toMatch(
    /seen first<\/small>\s*<time[^>]*>2026-11-21/,
  )
  const missing = await vera.ask('/signals/account?record=hubspot:companies:100000')
  expect(missing.status).toBe(404)
  expect(await missing.text()).toContain('is not watched')
  expect((await vera.ask('/signals/account?record=nonsense')).status).toBe(404)
})

test('operators alone act, with a token, and each action is audited before it begins', async () => {
  const [vera, otto] = [await desk.as('vera'), await desk.as('otto')]
  expect(await page(vera, '/signals')).not.toMatch(/action="\/signals/)
  expect(await page(otto, '/signals')).toContain('action="/signals/movers/run"')
  expect((await vera.ask('/signals/movers/run', { form: { budget: '1' } })).status).toBe(403)
  expect((await otto.ask('/signals/movers/run', { form: { budget: '1', _csrf: 'wrong' } })).status).toBe(403)
  expect((await otto.ask('/signals/movers/run', { form: { budget: 'much' } })).status).toBe(400)
  expect((await otto.ask('/signals/other/run', { form: { budget: '1' } })).status).toBe(404)
  expect(signals.job('movers')).toBeUndefined()

  const begun = await otto.ask('/signals/movers/plan', { form: {} })
  expect(begun.headers.get('location')).toBe('/signals?pipeline=movers&done=started_here')
  await signals.idle()
  // This CRM has no record: the action ends with the reason, and the page shows it.
  expect(signals.job('movers')?.ended).toMatchObject({ isDone: false })
  expect(await page(vera, '/signals')).toContain('no record meets the filter')
  expect((await desk.audit.list(10)).filter(({ action }) => action !== 'sign_in')).toMatchObject([
    { action: 'signals.plan', target: 'movers', actor: 'otto' },
  ])
})

test('a config without a pipeline says what to do', async () => {
  const bare = await openBareDesk()
  try {
    expect(await page(await bare.as('vera'), '/signals')).toContain('Name a pipeline under signals')
    expect((await (await bare.as('vera')).ask('/signals/account?record=a:b:c')).status).toBe(404)
  } finally {
    await bare.close()
  }
})
