import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { API_KEY, API_KEY_HEADER } from '../../src/sandbox/accounts.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { call, openHttpHouse, type HttpHouse } from '../support/http-house.ts'
import { startPlannedSync } from '../support/planned-sync.ts'

interface Enriched {
  tasks: { id: string; status: string }[]
}

/** Small enough for every day; `PAYDIRT_TEST_NIGHTLY=50000 PAYDIRT_TEST_PRESSES=200` is the size that is promised. */
const nightly = Number(process.env['PAYDIRT_TEST_NIGHTLY'] || 500)
const presses = Number(process.env['PAYDIRT_TEST_PRESSES'] || 200)
/**
 * `PAYDIRT_TEST_ACCESS=direct`: by API key, in credits. Every payment on the test's own chain costs its service and its chain fifty
 * milliseconds of processor time, so that a night of 50,000 would be three quarters of an hour of theirs.
 */
const isDirect = process.env['PAYDIRT_TEST_ACCESS'] === 'direct'
/** Half of them on records that the nightly run has too, and some on one and the same record. */
const different = Math.ceil(presses * 0.8)

let sandbox: Sandbox
let house: HttpHouse

beforeAll(async () => {
  const credits = nightly + presses
  sandbox = await startSandbox({ apiKeys: { [API_KEY]: { credit: credits, topupCredit: 0 } } })
  const usd = String(Math.ceil(credits / 50))
  house = await openHttpHouse(sandbox, {
    config: { budgets: { runUsd: usd, dayUsd: usd, creditsRun: credits, creditsDay: credits } },
    env: isDirect ? { PAYDIRT_API_KEY: API_KEY, PAYDIRT_API_KEY_HEADER: API_KEY_HEADER } : {},
  })
  await sandbox.fund(house.wallet as `0x${string}`, BigInt(nightly + presses) * 10_000n)
})
afterAll(async () => {
  await house?.close()
  await sandbox?.stop()
})

const company = (name: string) =>
  house.addCompany({ name, profnet_url: `https://www.profnet.example/company/${name}` })

test(
  `${presses} presses at once while a nightly run of ${nightly} is in progress: all answered, nothing paid twice, and the run finishes`,
  async () => {
    const { db } = house.context.database
    const inRun = Array.from({ length: nightly }, (_, n) => company(`nightly-${n}`))
    const { runId } = await startPlannedSync(house.context, 'companies')
    await vi.waitFor(async () => expect(await settled(runId)).toBeGreaterThan(10), {
      timeout: 120_000,
      interval: 50,
    })

    // Those at the end of the run are still to come.
    const shared = inRun.slice(-different / 2)
    const own = Array.from({ length: different - shared.length }, (_, n) => company(`pressed-${n}`))
    const records = [...shared, ...own]
    const token = await house.token()
    const startedMs = performance.now()
    const answers = await Promise.all(
      Array.from({ length: presses }, (_, index) =>
        call<Enriched>(`${house.url}/v1/enrich?wait=13`, {
          token,
          body: { connector: 'hubspot', object: 'company', ids: [records[index % records.length]] },
        }),
      ),
    )
    const tookMs = performance.now() - startedMs
    expect(answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 202)).toEqual(
      [],
    )
    // Tells a hang, not a speed: service, CRM and chain share this process and its cores.
    expect(tookMs).toBeLessThan(120_000)
    const ids = answers.flatMap(({ body }) => body.tasks.map((task) => task.id))
    expect(ids).toHaveLength(presses)
    expect(new Set(ids).size).toBe(records.length)

    // Every press comes to its end, whether somebody waits for it or not, and so does the run.
    const open = async () =>
      (
        await db
          .selectFrom('tasks')
          .select('id')
          .where('status', 'in', ['queued', 'looking_up', 'ready'])
          .execute()
      ).length
    await vi.waitFor(async () => expect(await open()).toBe(0), {
      timeout: 120_000 + nightly * 200,
      interval: 200,
    })
    await vi.waitFor(async () => expect((await house.context.runs.get(runId))?.state).toBe('finished'), {
      timeout: 30_000,
      interval: 100,
    })
    const pressed = await db
      .selectFrom('tasks')
      .innerJoin('runs', 'runs.id', 'tasks.run_id')
      .select('tasks.status')
      .where('trigger', '=', 'button')
      .execute()
    expect(pressed).toHaveLength(records.length)
    expect(pressed.filter(({ status }) => status === 'rejected' || status === 'skipped')).toEqual([])

    const charges = await db
      .selectFrom('charges')
      .select(['lookup_key', 'state', 'currency', 'amount_atomic'])
      .where('state', '!=', 'declined')
      .execute()
    expect(charges.filter(({ state }) => state !== 'settled')).toEqual([])
    expect(new Set(charges.map(({ lookup_key: key }) => key)).size).toBe(charges.length)
    const transfers = (await house.transfers()).map(({ nonce }) => nonce)
    expect(transfers.sort()).toEqual(isDirect ? [] : await house.nonces())
    const inCredits = charges.filter(({ currency }) => currency === 'credit')
    expect(inCredits).toHaveLength(isDirect ? charges.length : 0)
    // The service's own count, of what it found.
    const spent = sandbox.account(API_KEY)?.spent
    expect(inCredits.reduce((sum, row) => sum + row.amount_atomic, 0n)).toBe(BigInt(spent ?? 0) * 1_000_000n)
    if (isDirect) expect(spent).toBeGreaterThan(nightly / 2)
    expect(charges).toHaveLength(nightly + own.length)
    const inTime = answers.filter(({ status }) => status === 200).length
    console.log(`${presses} presses answered in ${Math.round(tookMs)} ms, ${inTime} of them with the result`)
  },
  600_000 + nightly * 100,
)

async function settled(runId: string): Promise<number> {
  const rows = await house.context.database.db
    .selectFrom('charges')
    .select('id')
    .where('run_id', '=', runId)
    .where('state', '=', 'settled')
    .execute()
  return rows.length
}
