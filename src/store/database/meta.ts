import type { Database } from './database.ts'

/** The name of this ledger, drawn once when it is made: it keeps two ledgers of one wallet from drawing the same nonce. */
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
