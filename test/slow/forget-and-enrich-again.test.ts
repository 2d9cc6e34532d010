import { sql } from 'kysely'
import { keccak256, toBytes } from 'viem'
import { afterEach, describe, expect, test } from 'vitest'
import { reconcile } from '../../src/app/money/reconcile.ts'
import { forget } from '../../src/app/records/forget.ts'
import { readIdentifiers } from '../../src/app/records/suppress.ts'
import type { LookupKey } from '../../src/domain/keys.ts'
import { derivedSeed, paymentSeed, seedSecret } from '../../src/pay/payment-seed.ts'
import { personAnswer } from '../../src/sandbox/data/person.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { ledgerId } from '../../src/store/database/meta.ts'
import { openCrmHouse, type CrmHouse } from '../integration/crm-house.ts'

let sandbox: Sandbox
let house: CrmHouse

afterEach(async () => {
  await house?.close()
  await sandbox?.stop()
})

const known = Array.from({ length: 60 }, (_, index) => `quita-zanders-${index}`).find(
  (name) => personAnswer(`https://www.profnet.com/in/${name}`).data !== null,
)!
const key = `person.profile|profnet.com/in/${known}` as LookupKey
const email = 'quita@zanders.example'

async function openHouse() {
  sandbox = await startSandbox()
  house = await openCrmHouse(sandbox)
  house.add('contacts', {
    firstname: 'Quita',
    lastname: 'Zanders',
    email,
    profnet_url: `https://www.profnet.com/in/${known}`,
  })
}

/** Everything from which the holder of a copy of the database could try a name against the kept nonces. */
async function leftovers(): Promise<{ nonces: string[]; secrets: string[]; text: string }> {
  const { db } = house.context.database
  const nonces = await db.selectFrom('charges').select('nonce').orderBy('created_at').execute()
  const salts = await db.selectFrom('lookups').select('salt').execute()
  const charges = await db.selectFrom('charges').selectAll().execute()
  return {
    nonces: nonces.map(({ nonce }) => nonce),
    secrets: salts.flatMap(({ salt }) => salt ?? []),
    text: JSON.stringify(charges, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
  }
}

const nonceOf = (seed: string) => keccak256(toBytes(`paydirt:${seed}`))

/** The first nonce of the lookup, as the owner of the wallet derives it. */
const ownersNonce = (ledger: string) =>
  nonceOf(
    derivedSeed({ ledgerId: ledger, key, attempt: 1, secret: seedSecret(house.context.config.walletKey!) }),
  )

describe('a subject that was forgotten and not suppressed', () => {
  test('is bought again under a nonce of its own, and the accounts balance', async () => {
    await openHouse()
    expect((await house.sync('contacts')).summary).toMatchObject({ lookups: { paid: 1 } })
    const marks = readIdentifiers({ email: [email] })
    for (let times = 2; times <= 3; times += 1) {
      expect((await forget(house.context, marks, { suppress: false })).erased).toMatchObject({ charges: 1 })
      // A person empties the fields, so that there is something to buy.
      for (const [id, values] of house.seen('contacts')) {
        const blank = Object.keys(values).filter((name) => !['email', 'profnet_url'].includes(name))
        house.edit('contacts', id, Object.fromEntries(blank.map((name) => [name, ''])))
      }
      const { summary } = await house.sync('contacts', (inner) => inner, { since: new Date(0) })
      expect(summary).toMatchObject({ lookups: { paid: 1 }, tasks: { parked: 0, rejected: 0 } })
      expect(await house.transfers()).toHaveLength(times)
    }
    const { nonces } = await leftovers()
    expect(new Set(nonces).size).toBe(3)
    expect(await reconcile(house.context, house.wallet)).toMatchObject({
      differences: [],
      difference: '0.000000',
    })
  })

  test('cannot be told from its nonce by the holder of the database', async () => {
    await openHouse()
    await house.sync('contacts')
    const id = await ledgerId(house.context.database.db, house.context.randomBytes)
    const before = await leftovers()
    const tried = (salt: string | null) => nonceOf(paymentSeed({ ledgerId: id, key, salt, attempt: 1 }))
    expect(before.nonces).toEqual([ownersNonce(id)])
    for (const salt of [before.secrets[0]!, null]) expect(before.nonces).not.toContain(tried(salt))

    await forget(house.context, readIdentifiers({ email: [email] }), { suppress: false })
    const after = await leftovers()
    expect(after.nonces).toEqual(before.nonces)
    expect(after.secrets).toEqual([])
    expect(after.nonces).not.toContain(tried(null))
    expect(after.text).not.toContain(before.secrets[0])
    expect(after.text).not.toMatch(/resource|digest":"/)
  })

  test('and whose lookup is older than salts derives what it derived, until it is wanted again', async () => {
    await openHouse()
    const { db } = house.context.database
    const id = await ledgerId(db, house.context.randomBytes)
    // The rows as the migration found them.
    await sql`alter table lookups alter column salt drop default`.execute(db)
    await house.sync('contacts')
    expect((await leftovers()).nonces).toEqual([ownersNonce(id)])

    await sql`alter table lookups alter column salt set default gen_random_uuid()::text`.execute(db)
    await forget(house.context, readIdentifiers({ email: [email] }), { suppress: false })
    for (const [record, values] of house.seen('contacts')) {
      const blank = Object.keys(values).filter((name) => !['email', 'profnet_url'].includes(name))
      house.edit('contacts', record, Object.fromEntries(blank.map((name) => [name, ''])))
    }
    const { summary } = await house.sync('contacts', (inner) => inner, { since: new Date(0) })
    expect(summary).toMatchObject({ lookups: { paid: 1 } })
    expect(new Set((await leftovers()).nonces).size).toBe(2)
  })
})
