import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { profileFieldNames } from '../../src/domain/fields.ts'
import type { AcquirePermit, Lane } from '../../src/domain/ports/send-permit.ts'
import type { WriteBackJob } from '../../src/queues/jobs.ts'
import type { Outcome } from '../../src/queues/working.ts'
import { API_KEY, API_KEY_HEADER } from '../../src/sandbox/accounts.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openHouse } from '../support/house.ts'
import { call, openHttpHouse, type HttpHouse } from '../support/http-house.ts'
import { startPlannedSync } from '../support/planned-sync.ts'

const nightly = 400
const presses = 60
const perSecond = 30

/** A request that asked for a permit of the shared pace, and how many of each lane were given one while it waited. */
interface Turn {
  lane: Lane
  passedBy: Record<Lane, number>
}
const turns: Turn[] = []
const allPressesAsk = Promise.withResolvers<void>()

/**
 * Records the turns. The presses ask together, when the last of them is ready: on a slow machine each would find an empty line, and
 * where the workers had room for few presses they would never all be ready.
 */
function recordTurns(acquire: AcquirePermit): AcquirePermit {
  const waiting = new Set<Turn>()
  let ready = 0
  return async (lane, operation) => {
    if (lane === 'hot') {
      if (++ready === presses) allPressesAsk.resolve()
      await allPressesAsk.promise
    }
    const own: Turn = { lane, passedBy: { hot: 0, background: 0 } }
    turns.push(own)
    waiting.add(own)
    try {
      const permit = await acquire(lane, operation)
      for (const turn of waiting) if (turn !== own) turn.passedBy[lane] += 1
      return permit
    } finally {
      waiting.delete(own)
    }
  }
}

let sandbox: Sandbox
let house: HttpHouse

beforeAll(async () => {
  const credits = nightly + presses
  sandbox = await startSandbox({ apiKeys: { [API_KEY]: { credit: credits, topupCredit: 0 } } })
  sandbox.faults.set({
    rateLimit: { kind: 'bucket', limit: perSecond, windowMs: 1_000 },
    // So slow that few presses in flight would leave most of the pace to the night.
    latency: { minMs: 800, maxMs: 800 },
  })
  house = await openHttpHouse(sandbox, {
    overrides: { acquirePermit: recordTurns },
    env: { PAYDIRT_API_KEY: API_KEY, PAYDIRT_API_KEY_HEADER: API_KEY_HEADER },
    config: {
      recipes: { profile: { company: { fields: profileFieldNames('company'), steps: ['company.profile'] } } },
      // As in the smallest accounts: a hundred calls in ten seconds, of which a press may not take three.
      connectors: { hubspot: { tenSecondLimit: 100 } },
      pacing: { startPerSecond: perSecond * 0.8 },
      budgets: { creditsRun: credits, creditsDay: credits },
    },
  })
})
afterAll(async () => {
  await house?.close()
  await sandbox?.stop()
})

const company = (name: string) =>
  house.addCompany({ name, profnet_url: `https://www.profnet.example/company/${name}` })

test(`${presses} presses at once have nearly all of the pace while they wait`, async () => {
  const { db } = house.context.database
  const ofTheNight = Array.from({ length: nightly }, (_, n) => company(`nightly-${n}`))
  const { runId } = await startPlannedSync(house.context, 'companies')
  await vi.waitFor(async () => expect((await sent()).length).toBeGreaterThan(20), {
    timeout: 60_000,
    interval: 20,
  })

  // Half of them on records of the night that are still to come.
  const own = Array.from({ length: presses / 2 }, (_, n) => company(`pressed-${n}`))
  const pressed = [...ofTheNight.slice(-presses / 2), ...own]
  const token = await house.token()
  const answers = await Promise.all(
    pressed.map((id) =>
      call<{ tasks: unknown[] }>(`${house.url}/v1/enrich?wait=13`, {
        token,
        body: { connector: 'hubspot', object: 'company', ids: [id] },
      }),
    ),
  )
  expect(answers.filter(({ status }) => status !== 200 && status !== 202)).toEqual([])

  await vi.waitFor(
    async () => expect((await sent()).filter(({ isPressed }) => isPressed)).toHaveLength(presses),
    { timeout: 120_000, interval: 50 },
  )
  expect((await sent()).length).toBeLessThan(nightly)

  // The machine decides how many come back within the wait (`npm run bench -- burst`), and how much later a request that has a
  // permit is sent. Who is given the next one does not depend on it.
  const ofPresses = turns.filter(({ lane }) => lane === 'hot')
  expect(ofPresses.length).toBeGreaterThanOrEqual(presses)
  // Permits that Redis had given when the press asked, and that were still on their way.
  expect(Math.max(...ofPresses.map(({ passedBy }) => passedBy.background))).toBeLessThan(presses / 10)
  const ofTheNightBehind = turns.filter(({ lane, passedBy }) => lane === 'background' && passedBy.hot > 0)
  expect(ofTheNightBehind.length).toBeGreaterThan(0)

  async function sent(): Promise<{ isPressed: boolean }[]> {
    // A refused request is sent again, as another charge or the same.
    const rows = await db
      .selectFrom('charges')
      .select((eb) => ['lookup_key', eb.fn.max('sent_at').as('at')])
      .where('sent_at', 'is not', null)
      .groupBy('lookup_key')
      .orderBy('at')
      .execute()
    const ofPresses = await db.selectFrom('tasks').select('lookup_key').where('run_id', '!=', runId).execute()
    const keys = new Set(ofPresses.map((task) => task.lookup_key))
    return rows.map((row) => ({ isPressed: keys.has(row.lookup_key) }))
  }
})

test('a press lets the job of a batch that waits to be tried again run at once', async () => {
  const other = await openHouse(sandbox)
  try {
    const { queues } = await other.context.openEngine()
    const worked: WriteBackJob[] = []
    const worker = queues.workWriteBack(async (job): Promise<Outcome> => {
      worked.push(job)
      return { againInMs: 600_000 }
    })
    const group = { connector: 'hubspot', entity: 'companies' }
    await queues.addWriteBack(group)
    await vi.waitFor(() => expect(worked).toHaveLength(1), { timeout: 30_000, interval: 10 })
    await vi.waitFor(
      async () => {
        // Until the job has been laid aside: a press that comes before is found by the job itself.
        await queues.addWriteBack(group, { isPress: true })
        expect(worked.length).toBeGreaterThan(1)
      },
      { timeout: 30_000, interval: 50 },
    )
    expect(worked[1]).toEqual(group)
    await worker.close(0)
  } finally {
    await other.close()
  }
})
