import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { resolveConfig } from '../../src/app/config/config.ts'
import { readEnvironment } from '../../src/app/config/environment.ts'
import { fileSchema } from '../../src/app/config/file.ts'
import { createContext, type Context } from '../../src/app/context/context.ts'
import { finishRestore } from '../../src/app/restored/finish-restore.ts'
import type { Reconciliation } from '../../src/app/money/reconcile.ts'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openDesk, type Desk } from '../support/cli.ts'
import { sized } from '../support/full-size.ts'
import { openSecondLedger } from '../support/second-ledger.ts'

const lifetimeSeconds = 60
const config = { payment: { authorizationSeconds: lifetimeSeconds }, pacing: { startPerSecond: 300 } }
const before = 3
const after = sized(60, 9)
const urls = Array.from({ length: 400 }, (_, index) => `https://www.profnet.com/company/restored-${index}`)
  .filter((url) => companyAnswer(url).data !== null)
  .slice(0, before + after)

let sandbox: Sandbox
let desk: Desk
let second: Awaited<ReturnType<typeof openSecondLedger>>
let env: Record<string, string | undefined>

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
beforeEach(async () => {
  sandbox.faults.reset()
  desk = await openDesk(sandbox, { config })
  second = await openSecondLedger()
  env = second.env
  await desk.write('first.csv', csv(urls.slice(0, before)))
  await desk.write('all.csv', csv(urls))
})
afterEach(async () => {
  await desk.close()
  await second.cleanup()
})

function csv(rows: readonly string[]): string {
  return ['profnet_url', ...rows, ''].join('\n')
}

function enrich(file: string, given?: Record<string, string | undefined>) {
  return desk.run(['csv', file, '--object', 'company', '--out', `out-${file}`, '--force', '--json'], given)
}

/** Buys some lookups, makes a backup, buys more, and restores the backup beside it. */
async function loseAfterBackup(): Promise<void> {
  expect(await enrich('first.csv')).toMatchObject({ status: 0 })
  expect(await desk.run(['backup', 'ledger.backup', '--json'])).toMatchObject({ status: 0 })
  expect(await enrich('all.csv')).toMatchObject({ status: 0 })
  expect(await desk.transfers()).toHaveLength(before + after)
  const restored = await desk.run(['restore', 'ledger.backup', '--json'], env)
  expect(restored.stderr).toBe('')
  expect(restored.json()).toMatchObject({ head: { charges: before } })
}

/** A context of the restored ledger whose clock is behind the last authorization of before. */
async function withRestored<T>(
  work: (context: Context) => Promise<T>,
  aheadSeconds = lifetimeSeconds + 1,
): Promise<T> {
  const settings = resolveConfig(readEnvironment({ ...desk.variables, ...env }), fileSchema.parse(config))
  const context = await createContext(settings, { now: () => new Date(Date.now() + aheadSeconds * 1000) })
  try {
    return await work(context)
  } finally {
    await context.close()
  }
}

async function readChain(): Promise<void> {
  await withRestored(async (context) => {
    expect(await finishRestore(context, desk.wallet)).toMatchObject({ kind: 'booked', payments: after })
    expect(await finishRestore(context, desk.wallet)).toBeUndefined()
  })
}

async function reconcile(): Promise<{ status: number | null; result: Reconciliation }> {
  const ended = await desk.run(['reconcile', '--json'], env)
  return { status: ended.status, result: ended.json<never>() }
}

describe('a ledger that was restored from a backup of before', () => {
  test('buys nothing before the chain was read, and then nothing that was bought', async () => {
    sandbox.faults.set({ paymentIdentifier: true })
    await loseAfterBackup()
    const bought = await desk.rows('out-all.csv')

    const early = await enrich('all.csv', env)
    expect(early.status).toBe(3)
    expect(await desk.transfers()).toHaveLength(before + after)
    const said = (await desk.run(['spend'], env)).stdout
    expect(said).toMatch(/restored from a backup.*reconcile` reads the chain and ends it/)
    expect(said).not.toContain('--resume')
    // A person's order does not lift it.
    await desk.run(['spend', '--resume'], env)
    expect((await enrich('all.csv', env)).status).toBe(3)
    expect(await desk.transfers()).toHaveLength(before + after)

    await readChain()
    const booked = await reconcile()
    expect(booked).toMatchObject({
      status: 0,
      result: { difference: '0.000000', ledger: { lost: usd(after) }, restored: { isPending: false } },
    })
    expect(booked.result.restored?.payments).toHaveLength(after)

    const again = await enrich('all.csv', env)
    expect(again.stderr).not.toContain('rejected')
    expect(again.status).toBe(0)
    expect(await desk.transfers()).toHaveLength(before + after)
    const withoutTimes = (rows: Record<string, string>[]) =>
      rows.map((row) => ({ ...row, paydirt_enriched_at: undefined }))
    expect(withoutTimes(await desk.rows('out-all.csv'))).toEqual(withoutTimes(bought))
    const { status, result } = await reconcile()
    expect(status).toBe(0)
    expect(result).toMatchObject({ difference: '0.000000', ledger: { lost: usd(0), inDoubt: usd(0) } })
    expect(result.restored?.payments.every(({ state }) => state === 'settled')).toBe(true)
  })

  test('lists each payment whose answer the service does not keep, and does not make it again', async () => {
    await loseAfterBackup()
    await readChain()
    await enrich('all.csv', env)
    expect(await desk.transfers()).toHaveLength(before + after)
    const rows = await desk.rows('out-all.csv')
    expect(rows.filter(({ paydirt_reason: reason }) => reason?.includes('after the backup'))).toHaveLength(
      after,
    )
    const { status, result } = await reconcile()
    expect(status).toBe(0)
    expect(result).toMatchObject({ difference: '0.000000', ledger: { lost: usd(after) } })
    const transactions = (await desk.transfers()).slice(before).map(({ transaction }) => transaction)
    expect(result.restored?.payments.map(({ transaction }) => transaction).sort()).toEqual(
      transactions.sort(),
    )
    expect(result.restored?.payments.every(({ lookup, state }) => lookup !== null && state === 'lost')).toBe(
      true,
    )
  })

  test('notices at its start that the database was restored with its own tools', async () => {
    sandbox.faults.set({ paymentIdentifier: true })
    // In the backup the lookups wait for their budget.
    expect(await enrich('all.csv', { PAYDIRT_BUDGET_RUN_USD: usd(before) })).toMatchObject({ status: 3 })
    expect(await desk.run(['backup', 'ledger.backup'])).toMatchObject({ status: 0 })
    expect(await enrich('all.csv')).toMatchObject({ status: 0 })
    expect(await desk.transfers()).toHaveLength(before + after)
    expect(await desk.run(['restore', 'ledger.backup'], env)).toMatchObject({ status: 0 })
    // Neither a switch nor a note: the tables as they were.
    await withRestored(async ({ database: { db } }) => {
      await db.deleteFrom('switches').execute()
      await db.deleteFrom('meta').where('key', '=', 'restored').execute()
    })
    expect((await enrich('all.csv', env)).status).toBe(3)
    expect((await desk.run(['spend'], env)).stdout).toMatch(/restored from a backup/)
    expect(await desk.transfers()).toHaveLength(before + after)
    await withRestored(async (context) => void (await finishRestore(context, desk.wallet)))
    expect((await enrich('all.csv', env)).status).toBe(0)
    await expectNothingTwice()
  })

  test('does not go on with another wallet while payments of the one before have no key', async () => {
    sandbox.faults.set({ paymentIdentifier: true })
    await loseAfterBackup()
    const other = privateKeyToAccount(generatePrivateKey()).address
    await withRestored(async (context) => {
      for (const wallet of [other, undefined])
        expect(await finishRestore(context, wallet)).toMatchObject({
          kind: 'other_wallet',
          wallet: desk.wallet.toLowerCase(),
          payments: after,
        })
    })
    const stopped = (await desk.run(['spend'], env)).stdout
    expect(stopped).toContain(`--lost-wallet ${desk.wallet.toLowerCase()}`)
    expect((await enrich('all.csv', env)).status).toBe(3)
    // With its key nothing is bought again.
    await readChain()
    expect((await enrich('all.csv', env)).status).toBe(0)
    await expectNothingTwice()
  })

  test('goes on without the key of a lost wallet when a person says so, and lists what it had paid', async () => {
    await loseAfterBackup()
    const walletKey = generatePrivateKey()
    const other = privateKeyToAccount(walletKey).address
    await sandbox.fund(other, 20_000_000n)
    const withOther = { ...env, PAYDIRT_WALLET_KEY: walletKey }
    const lost = ['reconcile', '--lost-wallet', desk.wallet, '--json']
    const early = await desk.run(lost, withOther)
    expect([early.status, early.stderr]).toEqual([2, expect.stringContaining('may still be used')])
    const wrong = await desk.run(['reconcile', '--lost-wallet', '0x12'], withOther)
    expect([wrong.status, wrong.stderr]).toEqual([2, expect.stringContaining('not the address')])
    await withRestored(async ({ database: { db } }) => {
      const at = new Date(Date.now() - 3_600_000).toISOString()
      const text = JSON.stringify({ backupAt: at, restoredAt: at })
      await db.updateTable('meta').set({ value: text }).where('key', '=', 'restored').execute()
    }, 0)
    expect((await enrich('all.csv', withOther)).status).toBe(3)
    expect(await sandbox.transfersFrom(other)).toEqual([])
    const booked = (await desk.run(lost, withOther)).json<Reconciliation>()
    expect(booked.restored).toMatchObject({ isPending: false })
    expect(booked.restored?.payments.map(({ state }) => state)).toEqual(Array(after).fill('lost'))
    expect((await enrich('all.csv', withOther)).status).toBe(0)
    expect(await sandbox.transfersFrom(other)).toHaveLength(after)
    expect(await desk.transfers()).toHaveLength(before + after)
    expect((await desk.run(lost, withOther)).stderr).toContain('not in restore mode')
  })

  async function expectNothingTwice(): Promise<void> {
    expect(await desk.transfers()).toHaveLength(before + after)
    const { status, result } = await reconcile()
    expect([status, result.difference, result.ledger.lost]).toEqual([0, '0.000000', usd(0)])
  }
})

describe('a backup', () => {
  test('is refused where something is in the way, and nothing is changed', async () => {
    expect(await enrich('first.csv')).toMatchObject({ status: 0 })
    await desk.run(['backup', 'ledger.backup'])
    const whole = await readFile(desk.at('ledger.backup'))
    await writeFile(desk.at('cut.backup'), whole.subarray(0, whole.length - 40))
    await writeFile(desk.at('other.backup'), 'profnet_url\n')
    await mkdir(desk.at('folder.backup'))
    for (const [file, said] of [
      ['cut.backup', /not a whole backup/],
      ['other.backup', /not a whole backup/],
      ['none.backup', /not a whole backup/],
      ['folder.backup', /not a whole backup/],
    ] as const) {
      const ended = await desk.run(['restore', file], env)
      expect([ended.status, ended.stderr]).toEqual([2, expect.stringMatching(said)])
    }
    const onto = await desk.run(['restore', 'ledger.backup'])
    expect([onto.status, onto.stderr]).toEqual([2, expect.stringMatching(/into an empty one/)])
    // The refused files have left an empty database, which takes the whole one.
    expect(await desk.run(['restore', 'ledger.backup'], env)).toMatchObject({ status: 0 })
    const dumps = await Promise.all([desk.run(['runs', '--json']), desk.run(['runs', '--json'], env)])
    expect(dumps[1].stdout).toBe(dumps[0].stdout)
  })
})

function usd(lookups: number): string {
  return (lookups / 100).toFixed(6)
}
