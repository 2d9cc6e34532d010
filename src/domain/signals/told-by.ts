import type { SignalField } from '../fields.ts'
import type { LookupKey } from '../keys.ts'
import type { Operation } from '../words.ts'
import type { SignalType } from './signal.ts'

/** The operations whose answers tell of each type. */
const operationsOf: Readonly<Record<SignalType, readonly Operation[]>> = {
  job: ['job.search', 'hiring.insights'],
  news: ['news.search', 'news.insights'],
  advertisement: ['advertisement.search', 'advertisement.insights'],
  cloud: ['cloud.search', 'cloud.insights'],
  expansion: [
    'expansion.search',
    'expansion.lookup',
    'expansion.signals',
    'expansion.detail',
    'expansion.compare',
    'expansion.summary',
    'expansion.rankings',
  ],
}

/** The type that a field tells of. Those of the score are made of all types. */
const typeOf: Readonly<Partial<Record<SignalField, SignalType>>> = {
  expansion_stage: 'expansion',
  expansion_direction: 'expansion',
  expansion_markets: 'expansion',
  open_jobs: 'job',
  open_jobs_change_30d: 'job',
  last_news_at: 'news',
  last_news_title: 'news',
  advertising: 'advertisement',
  cloud_providers: 'cloud',
}

/** Returns the last of these lookups that tells of an observed field; undefined for a field or lookups of another kind. */
export function toldBy(field: string, lookups: readonly LookupKey[]): LookupKey | undefined {
  const type = Object.hasOwn(typeOf, field) ? typeOf[field as SignalField] : undefined
  if (!type) return undefined
  return lookups.findLast((key) => operationsOf[type].some((operation) => key.startsWith(`${operation}|`)))
}
