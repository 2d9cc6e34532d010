import { errorCode } from '../../domain/error-codes.ts'
import { RetriableError } from '../../domain/errors.ts'

/** Returns the error for a node that does not have what another node behind the same address has. */
export function nodeBehind(rpcUrl: string, why: string, cause?: unknown): RetriableError {
  const host = new URL(rpcUrl).origin
  const message = `a node of the chain's RPC at ${host} is behind the others: ${why}`
  return new RetriableError(errorCode.chainUnreachable, message, { cause })
}
