import type { Operation } from '../words.ts'
import type { SignalType } from './signal.ts'

/** The search that tells each type. */
export const searches = {
  job: 'job.search',
  news: 'news.search',
  advertisement: 'advertisement.search',
  cloud: 'cloud.search',
  expansion: 'expansion.lookup',
} as const satisfies Readonly<Record<SignalType, Operation>>
