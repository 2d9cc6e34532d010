import { join } from 'node:path'
import { sql } from 'kysely'
import { expect } from 'vitest'
import type { RunSummary } from '../../src/app/runs/summary.ts'
import { contactsOf } from '../../src/sandbox/data/contacts.ts'
import { member, type Member } from '../../src/sandbox/data/directory.ts'
import type { Sandbox } from '../../src/sandbox/sandbox.ts'
import { openDatabase } from '../../src/store/database/database.ts'
import { openDesk } from './cli.ts'

const config = {
  payment: { maxPricesUsd: { 'contact.redeem:email-work': '0.15' } },
  bulk: { contactLookup: 10, redemption: 4 },
  recipes: {
    mail: { person: { fields: ['full_name', 'email'], steps: ['contact.lookup', 'contact.redeem'] } },
  },
} as const
const command = ['csv', 'in.csv', '--object', 'person', '--recipe', 'mail', '--out', 'out.csv', '--json']
const workEmails = ({ slug }: Member) => contactsOf(slug).emails.filter(({ type }) => type === 'work')

/** A desk with a file of 18 people by name and domain, from this number of the directory on, whose work e-mails are wanted. */
export async function openContactDesk(
  sandbox: Sandbox,
  from: number,
  service: Readonly<Record<string, unknown>> = {},
) {
  const desk = await openDesk(sandbox, { config: { ...config, service } as never })
  const people = Array.from({ length: 18 }, (_, index) => member(from + index))
  const known = people.filter(({ unknown }) => !unknown)
  const rows = people.map((each) => `${each.firstName},${each.lastName},${each.employer.domain}`)
  await desk.write('in.csv', `first_name,last_name,domain\n${rows.join('\n')}\n`)

  return {
    ...desk,
    command,
    people,
    known,
    /** A match costs 0.01 and is challenged for found or not; an e-mail 0.15, as the challenge has the ceiling. */
    total: ((people.length + known.length * 15) / 100).toFixed(6),
    /** A run that a kill left in doubt parks until the chain is sure: the same command goes on. */
    async untilDone(): Promise<RunSummary> {
      for (;;) {
        const ended = await desk.run(command)
        if (ended.status === 0) return ended.json<RunSummary>()
        expect(ended).toMatchObject({ status: 3 })
      }
    },
    async everyEmailIsThere(): Promise<void> {
      const filled = await desk.rows('out.csv')
      expect(filled).toHaveLength(people.length)
      filled.forEach((row, index) => {
        const mine = people[index] as Member
        const expected = mine.unknown ? [] : workEmails(mine).map(({ value }) => value.toLowerCase())
        if (expected.length === 0) expect(row['email']).toBe('')
        else expect(expected).toContain(row['email'])
      })
    },
    async money() {
      const { stores } = desk
      const database = await openDatabase({
        dataDir: join(stores.dataDir, 'data'),
        ...(stores.databaseUrl ? { url: stores.databaseUrl } : {}),
      })
      try {
        const settled = sql`where state = 'settled'`
        const charges = await sql<{ amount: bigint }>`
          select amount_atomic as amount from charges ${settled}`.execute(database.db)
        const shares = await sql<{ sum: bigint | null }>`
          select sum(amount_atomic)::bigint as sum from charge_shares ${settled}`.execute(database.db)
        return { charges: charges.rows, shares: shares.rows[0]?.sum ?? 0n }
      } finally {
        await database.close()
      }
    },
  }
}

export type ContactDesk = Awaited<ReturnType<typeof openContactDesk>>
