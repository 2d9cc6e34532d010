import type { LookupKey } from '../../domain/keys.ts'
import type { Fact } from '../../domain/record.ts'
import { readPage } from '../../service/calls/read-answer.ts'
import { expireAnswer, sentRequestOf, type SentRequest } from '../../store/contract/sent-request.ts'
import type { Database } from '../../store/database/database.ts'
import { isKeptWhole } from './describe-operations.ts'
import type { PlannedCall } from './plan-call.ts'

/**
 * Makes the answer to a call stale where the service complained of a key, and the same call now leaves with another name of a key:
 * the answer may be of a wider search. Returns whether it did. An answer to the names of now stays, whatever it complains of,
 * so that one and the same request is never bought again by this.
 *
 * Crash windows. Killed before the one statement: the answer is fresh, and the next call asks here again. Killed after it: the
 * answer is stale, and the next call buys. Of two processes that have read the same answer the later one does not reach the
 * answer that the first has bought meanwhile.
 */
export async function expireUnderOldNames(
  db: Database,
  { key, operation, contract, request }: Pick<PlannedCall, 'key' | 'operation' | 'contract' | 'request'>,
  fact: Fact,
  at: Date,
): Promise<boolean> {
  if (!isKeptWhole(operation) || fact.outcome !== 'found') return false
  const { ignored, renamed, drift } = readPage(contract, fact.data)
  const isUntold = drift.some((problem) => problem.startsWith('metadata.ignored_fields'))
  if (ignored.length === 0 && renamed.length === 0 && !isUntold) return false
  const sent = await sentRequestOf(db, key as LookupKey)
  const names = sent && namesIn(sent)
  if (!sent || !names) return false
  const isInPath = (name: string) => contract.path.value.includes(`{${name}}`)
  const own = Object.keys(request).filter((name) => Object.hasOwn(contract.request, name) && !isInPath(name))
  if (own.every((name) => names.has(contract.wireNames[name] ?? name))) return false
  return expireAnswer(db, key, sent.answeredAt, at)
}

function namesIn({ url, body }: SentRequest): Set<string> | undefined {
  if (body === '') return new Set(new URL(url).searchParams.keys())
  try {
    const parsed: unknown = JSON.parse(body)
    return typeof parsed === 'object' && parsed !== null ? new Set(Object.keys(parsed)) : undefined
  } catch {
    return undefined
  }
}
