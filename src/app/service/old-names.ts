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
  call: CallWithKey,
  fact: Fact,
  at: Date,
): Promise<boolean> {
  const answeredAt = await staleAnswer(db, call, fact)
  return answeredAt !== undefined && expireAnswer(db, call.key, answeredAt, at)
}

/** True for an answer that the same call would make stale. Changes nothing. */
export async function isUnderOldNames(db: Database, call: CallWithKey, fact: Fact): Promise<boolean> {
  return (await staleAnswer(db, call, fact)) !== undefined
}

type CallWithKey = Pick<PlannedCall, 'key' | 'operation' | 'contract' | 'request'>

/** Returns the time of an answer to other names of keys; undefined for one to the names of now. */
async function staleAnswer(
  db: Database,
  { key, operation, contract, request }: CallWithKey,
  fact: Fact,
): Promise<Date | undefined> {
  if (!isKeptWhole(operation) || fact.outcome !== 'found') return undefined
  const { ignored, renamed, drift } = readPage(contract, fact.data)
  const isUntold = drift.some((problem) => problem.startsWith('metadata.ignored_fields'))
  if (ignored.length === 0 && renamed.length === 0 && !isUntold) return undefined
  const sent = await sentRequestOf(db, key as LookupKey)
  const names = sent && namesIn(sent)
  if (!sent || !names) return undefined
  const isInPath = (name: string) => contract.path.value.includes(`{${name}}`)
  const own = Object.keys(request).filter((name) => Object.hasOwn(contract.request, name) && !isInPath(name))
  if (own.every((name) => names.has(contract.wireNames[name] ?? name))) return undefined
  return sent.answeredAt
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
