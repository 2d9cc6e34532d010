import type { RecordIdentity, RecordIdentityKind } from '../subjects/record-identities.ts'
import type { Verdict } from '../words.ts'
import { anotherRow, mayBeNew, newByAnswer, withAnswer, type RowAnswer } from './answers.ts'
import { identityText, type JudgedRow, type Judgement, type MatchedRecord } from './judged-row.ts'
import type { ListRow } from './list-row.ts'

export { identityText, type JudgedRow, type MatchedRecord } from './judged-row.ts'

export interface Known {
  /** The object of which records are wanted. A record of another is named in the reason. */
  entity?: string
  /** Returns the records that have an identity. */
  recordsWith: (identity: RecordIdentity) => readonly MatchedRecord[]
  /** Returns the profiles of a record, in the form of identities. */
  profilesOf: (record: MatchedRecord) => readonly string[]
  /** The rows that are suppressed, by index. */
  suppressed: ReadonlySet<number>
  /** The rows that the list leaves out, by index. */
  excluded: ReadonlySet<number>
  /** The fields without which no record is wanted. */
  requires: readonly string[]
  /** Returns what a person has answered about a row. */
  answerTo?: ((row: ListRow) => RowAnswer | undefined) | undefined
  /** The other rows of the list, where only a part of it is judged. Default: there are no others. */
  others?: OtherRows | undefined
}

/** The rows of a list that is judged in parts, as far as they decide on others. */
export interface OtherRows {
  /** The place of the first row with a name (namesInList), by name. */
  named: ReadonlyMap<string, number>
  /** The place of the first row that is new, by its domain. */
  newAt: ReadonlyMap<string, number>
}

/** The kinds of identities that make two records the same, the surest first. A name alone is none of them. */
const deciding: readonly { kind: RecordIdentityKind; words: string }[] = [
  { kind: 'profile', words: 'the same profile' },
  { kind: 'service_id', words: 'the same id of the service' },
  { kind: 'email', words: 'the same e-mail' },
  { kind: 'domain', words: 'the same domain' },
  { kind: 'phone_name', words: 'the same phone and surname' },
  { kind: 'name_domain', words: 'the same name and domain' },
]

/**
 * Judges the rows of a list against what is known of a CRM's records, and against each other. In doubt a row is never `new`: a record
 * that is made twice costs more than one that waits for a person. Pure.
 */
export function judgeRows<R extends ListRow & { ordinal?: number }>(
  rows: readonly R[],
  known: Known,
): JudgedRow<R>[] {
  const names = new Map<string, number>()
  const domains = new Map<string, number>()
  const seen: Seen = {
    named: (text) => leastOf(names.get(text), known.others?.named.get(text)),
    newAt: (domain) => known.others?.newAt.get(domain) ?? domains.get(domain),
  }
  return rows.map((row, index) => {
    const ordinal = row.ordinal ?? index + 1
    const own = judge(row, { index, ordinal }, withoutBesides(known, row), seen)
    const judged = besideOther(own, row, known.answerTo?.(row), ordinal, seen)
    if (judged.verdict === 'new')
      for (const domain of domainsOf(row)) if (!domains.has(domain)) domains.set(domain, ordinal)
    if (judged.verdict !== 'drifted')
      for (const text of namesInList(row)) if (!names.has(text)) names.set(text, ordinal)
    return { row, ordinal, ...judged }
  })
}

/** Returns what is known as if the records were not there that are no reason against the row. */
function withoutBesides(known: Known, { besides = [] }: ListRow): Known {
  if (besides.length === 0) return known
  const left = new Set(besides.map(recordText))
  return {
    ...known,
    recordsWith: (identity) => known.recordsWith(identity).filter((record) => !left.has(recordText(record))),
  }
}

/** The rows before, by name and by domain. */
interface Seen {
  named: (text: string) => number | undefined
  newAt: (domain: string) => number | undefined
}

/** A second company of a domain is not new: once the first is a record, the domain is that record's. */
function besideOther(
  judged: Judgement,
  row: ListRow,
  given: RowAnswer | undefined,
  ordinal: number,
  { newAt }: Seen,
): Judgement {
  if (judged.verdict !== 'new') return judged
  const first = domainsOf(row)
    .map(newAt)
    .find((at) => at !== undefined && at < ordinal)
  if (first === undefined) return judged
  return given?.answer === 'new' && given.shown.includes(anotherRow)
    ? newByAnswer()
    : without('ambiguous', `the same domain as row ${first} of the list, and another profile`)
}

const without = (verdict: Verdict, reason: string): Judgement => ({ verdict, reason, records: [] })

function judge(
  row: ListRow,
  { index, ordinal }: { index: number; ordinal: number },
  known: Known,
  { named }: Seen,
): Judgement {
  if (row.serviceId === null) return without('drifted', 'the row has no id')
  if (known.suppressed.has(index)) return without('suppressed', 'it is on the suppression list')
  if (known.excluded.has(index)) return without('excluded', 'the list leaves it out')
  const first = namesInList(row)
    .map(named)
    .find((at) => at !== undefined && at < ordinal)
  if (first !== undefined) return without('duplicate', `it is row ${first} of the list`)
  const own = inCrm(row, known) ?? complete(row, known) ?? without('new', 'no record is like it')
  return withAnswer(own, known.answerTo?.(row), {
    canBeNew: mayBeNew(row, known.recordsWith),
    incomplete: () => complete(row, known),
  })
}

function leastOf(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)
}

/** Returns the domains of a company: of two new rows with one of them the second waits for a person. */
export function domainsOf(row: ListRow): string[] {
  return valuesOf(row, 'domain')
}

/** Another row is the same where it has the same id or profile, or the same domain and no profile that says otherwise. */
function namesInList(row: ListRow): string[] {
  const sure = row.identities.filter(
    ({ kind }) => kind === 'profile' || kind === 'email' || kind === 'service_id',
  )
  const own = row.serviceId === null ? [] : [`row|${row.serviceId}`]
  const byDomain = sure.some(({ kind }) => kind === 'profile')
    ? []
    : row.identities.filter(({ kind }) => kind === 'domain')
  return [...own, ...[...sure, ...byDomain].map(identityText)]
}

function inCrm(row: ListRow, { entity, recordsWith, profilesOf }: Known): Judgement | undefined {
  const own = valuesOf(row, 'profile')
  const isAnother = (record: MatchedRecord): boolean => {
    const profiles = profilesOf(record)
    return own.length > 0 && profiles.length > 0 && !profiles.some((each) => own.includes(each))
  }
  for (const { kind, words } of deciding) {
    const matched = distinct(row.identities.filter((each) => each.kind === kind).flatMap(recordsWith))
    if (matched.length === 0) continue
    const same = matched.filter((record) => !isAnother(record))
    const [first] = same
    if (first && matched.length === 1) {
      const isOther = entity !== undefined && first.entity !== entity
      const reason = isOther ? `${words} as ${first.entity} ${first.recordId}` : words
      return { verdict: 'exists', reason, records: same }
    }
    return {
      verdict: 'ambiguous',
      reason:
        same.length === 0
          ? `${words} as a record with another profile`
          : `${words} as ${matched.length} records`,
      records: matched,
    }
  }
  const alike = distinct(row.identities.filter(({ kind }) => kind === 'name').flatMap(recordsWith))
  // The profile of a person with other records was looked up just now: one of the same name with another profile is somebody else.
  const named = (row.besides ?? []).length > 0 ? alike.filter((record) => !isAnother(record)) : alike
  return named.length > 0
    ? { verdict: 'possible', reason: 'the same name, and nothing else', records: named }
    : undefined
}

function complete(row: ListRow, { requires }: Known): Judgement | undefined {
  const missing = requires.filter((field) => row.values[field] === undefined)
  return missing.length > 0 ? without('incomplete', `it has no ${missing.join(', ')}`) : undefined
}

function valuesOf({ identities }: ListRow, kind: RecordIdentityKind): string[] {
  return identities.flatMap((each) => (each.kind === kind ? [each.value] : []))
}

function distinct(records: readonly MatchedRecord[]): MatchedRecord[] {
  return [...new Map(records.map((each) => [recordText(each), each])).values()]
}

function recordText({ entity, recordId }: MatchedRecord): string {
  return `${entity}|${recordId}`
}
