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

/** Returns a small value that this ledger keeps under a name. */
export async function readMeta(db: Database, key: string): Promise<string | undefined> {
  return (await db.selectFrom('meta').select('value').where('key', '=', key).executeTakeFirst())?.value
}

export async function writeMeta(db: Database, key: string, value: string): Promise<void> {
  await db
    .insertInto('meta')
    .values({ key, value })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
    .execute()
}
