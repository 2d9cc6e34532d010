import { z } from 'zod'
import { accountSchema, accountUsageSchema } from '../schema/account.ts'
import { creditsOf } from '../schema/metadata.ts'
import type { Fact } from '../../domain/record.ts'
import { decodeData, type Endpoint } from './endpoint.ts'

/** Credit and plan limits of the workspace that an API key names. Free. Without an API key there is no workspace. */
export const accountProfile = {
  operation: 'account.profile',
  request: z.strictObject({}),
  timeoutMs: 15_000,
  decode: withCredits(decodeData(accountSchema)),
} satisfies Endpoint

/** The workspace's usage: the service's own count, which reconciliation compares with the ledger. */
export const accountUsage = {
  operation: 'account.usage',
  request: z.strictObject({}),
  timeoutMs: 15_000,
  decode: withCredits(decodeData(accountUsageSchema)),
} satisfies Endpoint

/** Reads the counts from the record or from the credit block into the same two fields. */
function withCredits(decode: (body: string) => Fact): (body: string) => Fact {
  return (body) => {
    const fact = decode(body)
    const credits = creditsOf(body)
    if (fact.outcome === 'unreadable' || !credits) return fact
    const { credit, topupCredit } = credits
    const counts = {
      ...(credit !== undefined && { credit }),
      ...(topupCredit !== undefined && { topup_credit: topupCredit }),
    }
    return { outcome: 'found', data: { ...counts, ...fact.data } }
  }
}
