import type { Database } from '../database/database.ts'
import { readMeta } from '../database/meta.ts'

const name = 'desk_seal_key'

/** Returns the key with which the desk seals texts in addresses, in hex. It is drawn on first use, the same for all processes. */
export async function sealKey(db: Database, randomBytes: (size: number) => Buffer): Promise<string> {
  const known = await readMeta(db, name)
  if (known !== undefined) return known
  await db
    .insertInto('meta')
    .values({ key: name, value: randomBytes(32).toString('hex') })
    .onConflict((conflict) => conflict.column('key').doNothing())
    .execute()
  return (await readMeta(db, name)) as string
}
