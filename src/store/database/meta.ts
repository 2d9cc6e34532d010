import type { Database } from './database.ts'

/** Returns the id of this ledger, and draws it on first use. It keeps two ledgers of one wallet from deriving the same nonce. */
export async function ledgerId(db: Database, randomBytes: (size: number) => Buffer): Promise<string> {
  await db
    .insertInto('meta')
    .values({ key: 'ledger_id', value: randomBytes(16).toString('hex') })
    .onConflict((conflict) => conflict.column('key').doNothing())
    .execute()
  const { value } = await db
    .selectFrom('meta')
    .select('value')
    .where('key', '=', 'ledger_id')
    .executeTakeFirstOrThrow()
  return value
}
