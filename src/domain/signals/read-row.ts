import { createHash } from 'node:crypto'
import { canonicalDomain } from '../keys.ts'
import type { ObservedSignal, SignalAbout, SignalType } from './signal.ts'

type Row = Readonly<Record<string, unknown>>

/** A row of an answer: the company to which it belongs, and what it tells. */
export interface ReadRow {
  serviceId: string | null
  domain: string | null
  signal: ObservedSignal
  /** The day on which the service saw it first, where it says so. It is no day on which anything happened. */
  seenAt: Date | null
  /** The key of a market entry without its stage: of the stages of one entry the last alone goes on. Null for other types. */
  entry: string | null
}

/**
 * Returns what a row tells. Names of keys are those of the service's description where it shows them, and else those that are assumed of
 * it (docs/service-contract.md). Texts of another type count as not told. Pure.
 */
export function readRow(type: SignalType, row: Row): ReadRow {
  const text = (name: string): string | null => textIn(row[name])
  const domain = canonicalDomain(text('domain') ?? '')
  const id = text(idNames[type])
  const base = {
    type,
    title: text('title'),
    link: null,
    place: text('location') ?? text('country_code') ?? text('market'),
    strength: null,
    happenedAt: null,
    endedAt: null,
  }
  const { stage, seenAt = null, ...told } = readers[type](row, text)
  const signal = { ...base, about: {}, ...told }
  const key = keyOf(id, signal)
  return {
    serviceId: text('domain_search_id'),
    domain: domain.ok ? domain.value : null,
    signal: { ...signal, key: stage === undefined ? key : `${key}:${stage ?? ''}` },
    seenAt,
    entry: stage === undefined ? null : key,
  }
}

const idNames: Readonly<Record<SignalType, string>> = {
  job: 'job_search_id',
  news: 'news_search_id',
  advertisement: 'advertisement_search_id',
  cloud: 'cloud_search_id',
  expansion: 'expansion_id',
}

type Told = Partial<Omit<ObservedSignal, 'type' | 'key'>> & {
  seenAt?: Date | null
  /** The stage of a market entry; absent for other types. */
  stage?: string | null
}
type Reader = (row: Row, text: (name: string) => string | null) => Told

const readers: Readonly<Record<SignalType, Reader>> = {
  job: (row, text) => ({
    link: linkIn(row['job_url']) ?? linkIn(row['url']),
    happenedAt: timeIn(row['launch_date']),
    seenAt: timeIn(row['created_at']),
    endedAt: timeIn(row['closed_at']),
    about: words({ functions: listIn(row['functions']), seniority: text('seniority_rank') }),
  }),
  news: (row, text) => ({
    link: linkIn(row['source_url']) ?? linkIn(row['url']),
    happenedAt: timeIn(row['published_at']),
    seenAt: timeIn(row['created_at']),
    about: words({ category: text('category'), markets: text('market') }),
  }),
  advertisement: (row, text) => ({
    link: linkIn(row['advertisement_url']),
    place: listIn(row['target_locations'])?.join(', ') ?? null,
    strength: text('reach_tier'),
    happenedAt: timeIn(row['active_from']),
    seenAt: timeIn(row['created_at']),
    endedAt: endOf(timeIn(row['active_until'])),
    about: words({ providers: text('source_type'), markets: listIn(row['target_locations']) }),
  }),
  cloud: (row, text) => ({
    title: [text('provider'), text('region')].filter((part) => part !== null).join(' ') || null,
    // The service has seen it on that day; since when it is there nobody tells.
    seenAt: timeIn(row['first_seen_at']) ?? timeIn(row['created_at']),
    about: words({ provider: text('provider'), markets: text('country_code') }),
  }),
  expansion: (row, text) => {
    const stage = objectIn(row['stage'])
    const name = stage ? textIn(stage['name']) : text('stage')
    const market = text('to')
    return {
      title: [name, market].filter((part) => part !== null).join(' in ') || null,
      place: market,
      strength: text('signal_strength'),
      seenAt: timeIn(row['latest_signal_at']),
      about: words({
        from: text('from'),
        to: market,
        polarity: text('polarity'),
        stage: name,
        direction: stage ? textIn(stage['direction']) : null,
      }),
      stage: name,
    }
  },
}

/** Returns the id of the service, or else a digest of what stays the same when a thing is shown once more. */
function keyOf(
  id: string | null,
  { type, title: shown, link, place, happenedAt, about }: Omit<ObservedSignal, 'key'>,
): string {
  if (id !== null) return id
  // The title of a market entry has its stage in it, which changes.
  const title = type === 'expansion' ? (about['from'] ?? null) : shown
  const parts = [type, title, link, place, happenedAt?.toISOString() ?? null]
  return `d:${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)}`
}

function words(given: Readonly<Record<string, string | readonly string[] | null>>): SignalAbout {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null)) as SignalAbout
}

const longest = 1_000
const dayMs = 86_400_000

function textIn(value: unknown): string | null {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value)
  if (typeof value !== 'string') return null
  // Neither the ledger nor a CRM stores a null character or half of a pair.
  const clean = value.replaceAll('\u0000', '').toWellFormed().trim()
  return clean === '' ? null : clean.slice(0, longest).toWellFormed()
}

function listIn(value: unknown): string[] | null {
  if (!Array.isArray(value)) return textIn(value) === null ? null : [textIn(value) as string]
  const texts = value.flatMap((each) => textIn(each) ?? [])
  return texts.length > 0 ? texts.slice(0, 100) : null
}

function linkIn(value: unknown): string | null {
  const found = textIn(value)
  return found !== null && /^https?:\/\//i.test(found) ? found : null
}

function timeIn(value: unknown): Date | null {
  const found = textIn(value)
  if (found === null || !/^\d{4}-\d{2}-\d{2}/.test(found)) return null
  const at = new Date(found)
  return Number.isNaN(at.getTime()) ? null : at
}

/** Returns the end of a day that was told as the last one. A day is told as a date, or as its first moment. */
function endOf(last: Date | null): Date | null {
  return last !== null && last.getTime() % dayMs === 0 ? new Date(last.getTime() + dayMs) : last
}

function objectIn(value: unknown): Row | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Row) : null
}
