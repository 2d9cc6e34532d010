import { randomBytes } from 'node:crypto'
import { digestOf } from '../http/callers/api-token.ts'
import { createApiTokenLedger, type ApiToken, type TokenScope } from '../store/api-tokens.ts'
import type { Context } from './context.ts'

export interface TokenWish {
  name: string
  scopes: TokenScope[]
  perMinute: number
  /** Absent: no cap of its own. */
  dayCapAtomic: bigint | null
}

/** Makes a token. Its text is in this answer and nowhere else: the ledger holds its digest. */
export async function createToken(
  { database, now }: Pick<Context, 'database' | 'now'>,
  wish: TokenWish,
): Promise<{ id: string; token: string }> {
  const id = randomBytes(5).toString('hex')
  const token = `pd_${randomBytes(32).toString('base64url')}`
  await createApiTokenLedger(database.db, { now }).add({ id, ...wish }, digestOf(token))
  return { id, token }
}

export function listTokens({ database, now }: Pick<Context, 'database' | 'now'>): Promise<ApiToken[]> {
  return createApiTokenLedger(database.db, { now }).list()
}

/** False when there is no such token, or it was revoked before. */
export function revokeToken(
  { database, now }: Pick<Context, 'database' | 'now'>,
  id: string,
): Promise<boolean> {
  return createApiTokenLedger(database.db, { now }).revoke(id)
}
