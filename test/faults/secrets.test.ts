import { readFile } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'
import pg from 'pg'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { basePolicy } from '../../src/pay/limits/spending-policy.ts'
import { createX402 } from '../../src/pay/x402/protocol.ts'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openDesk, type Ended, type Running } from '../support/cli.ts'
import type { FreshStores } from '../support/stores.ts'
import { paymentMethods } from './payment-methods.ts'

const hasServers = Boolean(process.env['DATABASE_URL'] && process.env['REDIS_URL'])

/** Shapes of values that must be in no log line, whatever the value is and wherever it comes from. */
const shapes = {
  // A proof or a challenge: JSON in base64, as both protocols send it.
  'payment header': /eyJ[A-Za-z0-9+/_-]{40,}/,
  signature: /0x[0-9a-f]{130}/i,
  'private key': /0x[0-9a-f]{64}(?![0-9a-f])/i,
  'e-mail': /[\w.+-]+@[\w-]+\.[a-z]{2,}/i,
}

const trouble = {
  latency: { minMs: 0, maxMs: 30 },
  dropAfterSettlement: { share: 0.15 },
  dropBeforeSettlement: { share: 0.1 },
  errorAfterVerification: { share: 0.15 },
  challengeAgain: { share: 0.15 },
}

test('the shapes match real proofs and keys', async () => {
  const key = generatePrivateKey()
  const account = privateKeyToAccount(key)
  const protocol = createX402({ account, chain: undefined })
  const terms = {
    ...basePolicy,
    protocol: 'x402' as const,
    version: 1,
    scheme: 'exact',
    payTo: account.address,
    amountAtomic: 10_000n,
    maxTimeoutSeconds: 60,
    transferMethod: 'eip3009',
    paymentFlow: 'after',
    paymentIdentifier: false,
    raw: { accepted: { scheme: 'exact', network: 'base' } },
  }
  const authorization = protocol.draw(terms, { seed: 'one', nowMs: 0, lifetimeSeconds: 60 })
  const [proof = ''] = Object.values(await protocol.headers(authorization))
  expect(proof).toMatch(shapes['payment header'])
  expect(Buffer.from(proof, 'base64').toString()).toMatch(shapes.signature)
  expect(key).toMatch(shapes['private key'])
})

/** A normal run logs little. A run that loses its database again and again logs as much as it can. */
async function whenPaying(sandbox: Sandbox, running: Running, stores: FreshStores): Promise<Ended> {
  const before = sandbox.stats().settled
  let isHeard = false
  let isOver = false
  void running.ended.then(() => (isOver = true))
  void running.said(/"level":/).then(
    () => (isHeard = true),
    () => (isOver = true),
  )
  while (!isOver && sandbox.stats().settled < before + 5)
    await new Promise((resolve) => setTimeout(resolve, 2))
  // The statement that is cut is a matter of chance, and a cut between two statements is recovered silently.
  while (hasServers && !isOver && !isHeard) await cutConnections(stores)
  return running.ended
}

async function cutConnections({ databaseUrl }: FreshStores): Promise<void> {
  if (databaseUrl === undefined) return
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  )
  await client.end()
}

describe('everything that a run prints at level trace, under every kind of fault', () => {
  test.each(paymentMethods)('holds no proof, signature, key or e-mail, paying by $name', async (method) => {
    const sandbox = await startSandbox({ faults: { ...method.faults, ...trouble, seed: 7 } })
    const desk = await openDesk(sandbox, { config: method.file })
    try {
      const rows = Array.from({ length: 40 }, (_, index) => {
        const slug = `secret-${index}`
        return `https://www.profnet.example/company/${slug},jane.doe+${index}@private.example,Jane Doe ${index}`
      })
      await desk.write('in.csv', `profnet_url,email,contact\n${rows.join('\n')}\n`)
      const command = ['csv', 'in.csv', '--object', 'company', '--out', 'out.csv', '--json']
      const aloud = { PAYDIRT_LOG_LEVEL: 'trace' }
      const cut = await whenPaying(sandbox, desk.start(command, aloud), desk.stores)
      // As processes of their own: the log goes to the file of standard error, past what a process captures of itself.
      const run = await desk.start(command, aloud).ended
      const doubts = await desk.start(['reconcile', '--json'], aloud).ended
      const backup = await desk.start(['backup', 'ledger.backup'], aloud).ended
      expect(backup.status).toBe(0)
      const printed = [cut, run, doubts, backup]
        .map(({ stdout, stderr }) => `${stdout}\n${stderr}`)
        .join('\n')

      // Otherwise nothing was sent or logged, and there was nothing to find.
      expect(await desk.transfers()).not.toHaveLength(0)
      if (hasServers) expect(printed).toContain('"level":')
      expect(run.json()).toMatchObject({ records: 40 })
      // Transactions are named on purpose. Their hashes have 32 bytes, as a private key has.
      const transactions = (await desk.transfers()).map(({ transaction }) => transaction)
      const rest = transactions.reduce((text, transaction) => text.replaceAll(transaction, ''), printed)
      const found = Object.entries(shapes).map(([name, shape]) => [name, shape.exec(rest)?.[0]])
      expect(found.filter(([, text]) => text !== undefined)).toEqual([])
      expect(printed.toLowerCase()).not.toContain(desk.walletKey.slice(2).toLowerCase())
      expect(printed).not.toContain('Jane Doe')
      // A backup has what the ledger has, which is no bytes that move money and no key.
      const filed = gunzipSync(await readFile(desk.at('ledger.backup'))).toString()
      expect(filed).toContain('"table":"charges"')
      expect(filed).not.toMatch(shapes.signature)
      expect(filed.toLowerCase()).not.toContain(desk.walletKey.slice(2).toLowerCase())
      const bought = companyAnswer('https://www.profnet.example/company/secret-3').data
      if (bought) expect(printed).not.toContain(bought.company_address)
    } finally {
      await desk.close()
      await sandbox.stop()
    }
  })
})
