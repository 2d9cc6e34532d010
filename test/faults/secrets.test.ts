import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { basePolicy } from '../../src/pay/policy.ts'
import { createX402 } from '../../src/pay/x402/protocol.ts'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { startSandbox } from '../../src/sandbox/sandbox.ts'
import { openDesk } from '../support/cli.ts'
import { ways } from './ways.ts'

/** What must stand in no log line, by its shape: whatever the value, and however it came there. */
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

test('the shapes are those of real proofs and keys', async () => {
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

describe('everything that a run prints at level trace, in trouble of every kind', () => {
  test.each(ways)('holds no proof, signature, key or e-mail, paying by $name', async (way) => {
    const sandbox = await startSandbox({ faults: { ...way.faults, ...trouble, seed: 7 } })
    const desk = await openDesk(sandbox, { config: way.file })
    try {
      const rows = Array.from({ length: 40 }, (_, index) => {
        const slug = `secret-${index}`
        return `https://www.profnet.example/company/${slug},jane.doe+${index}@private.example,Jane Doe ${index}`
      })
      await desk.write('in.csv', `profnet_url,email,contact\n${rows.join('\n')}\n`)
      const command = ['csv', 'in.csv', '--object', 'company', '--out', 'out.csv', '--json']
      const run = await desk.run(command, { PAYDIRT_LOG_LEVEL: 'trace' })
      const doubts = await desk.run(['reconcile', '--json'], { PAYDIRT_LOG_LEVEL: 'trace' })
      const printed = [run, doubts].map(({ stdout, stderr }) => `${stdout}\n${stderr}`).join('\n')

      // Or nothing was sent or said, and there was nothing to find.
      expect(await desk.transfers()).not.toHaveLength(0)
      expect(printed.length).toBeGreaterThan(500)
      // Transactions are named on purpose; they are 32 bytes as a private key is.
      const transactions = (await desk.transfers()).map(({ transaction }) => transaction)
      const rest = transactions.reduce((text, transaction) => text.replaceAll(transaction, ''), printed)
      const found = Object.entries(shapes).map(([name, shape]) => [name, shape.exec(rest)?.[0]])
      expect(found.filter(([, text]) => text !== undefined)).toEqual([])
      expect(printed.toLowerCase()).not.toContain(desk.walletKey.slice(2).toLowerCase())
      expect(printed).not.toContain('Jane Doe')
      const bought = companyAnswer('https://www.profnet.example/company/secret-3').data
      if (bought) expect(printed).not.toContain(bought.company_address)
    } finally {
      await desk.close()
      await sandbox.stop()
    }
  })
})
