import { formatUsd } from '../../domain/money.ts'
import { digestOf } from '../../http/callers/api-token.ts'
import { createApiTokenLedger, type TokenScope } from '../../store/access/api-tokens.ts'
import { noteFromCli } from '../context/audit-from-cli.ts'
import type { Context } from '../context/context.ts'

export interface TokenRequest {
  name: string
  scopes: TokenScope[]
  perMinute: number
  /** null: no cap for this token. */
  dayCapAtomic: bigint | null
}

/** Makes a token. Only this result has its text: the ledger stores its digest. */
export async function createToken(
  context: Pick<Context, 'database' | 'now' | 'randomBytes'>,
  request: TokenRequest,
): Promise<{ id: string; token: string }> {
  const id = context.randomBytes(5).toString('hex')
  const token = `pd_${context.randomBytes(32).toString('base64url')}`
  await ledgerOf(context).add({ id, ...request }, digestOf(token))
  await noteFromCli(context, 'token.create', {
    target: id,
    details: {
      name: request.name,
      scopes: request.scopes.join(', '),
      perMinute: request.perMinute,
      dayUsd: request.dayCapAtomic === null ? null : formatUsd(request.dayCapAtomic),
    },
  })
  return { id, token }
}

/** Returns false when there is no such token, or it was revoked before. */
export async function revokeToken(context: Pick<Context, 'database' | 'now'>, id: string): Promise<boolean> {
  const isRevoked = await ledgerOf(context).revoke(id)
  if (isRevoked) await noteFromCli(context, 'token.revoke', { target: id })
  return isRevoked
}

function ledgerOf({ database, now }: Pick<Context, 'database' | 'now'>) {
  return createApiTokenLedger(database.db, { now })
}
