import type { HttpMethod } from '../../domain/ports/transport.ts'
import type { Operation } from '../../domain/words.ts'
import type { Origin } from './origin.ts'
import type { FurtherPath } from './path-names.ts'
import type { VocabularyName } from './vocabularies.ts'

/** A fact of the wire with where it is from. */
export interface Claim<T> {
  value: T
  origin: Origin
}

/** Ways to reach an operation: by a payment for each request, by an API key, or by either. */
export const accesses = ['paid', 'direct', 'both'] as const
export type Access = (typeof accesses)[number]

/**
 * Types of body keys. `dates` is `{ from?, to? }` with days as `YYYY-MM-DD`; `flag` is a boolean.
 */
export type FieldType =
  'text' | 'texts' | 'integer' | 'integers' | 'number' | 'flag' | 'dates' | 'object' | 'objects'

/** A key of a request's body, or a parameter of its path. */
export interface RequestField {
  is: FieldType
  origin: Origin
  /** The only words that it takes, where there is a list. */
  vocabulary?: VocabularyName
  /** The key that it is another name of. */
  aliasOf?: string
  /** The way in which spellings of one value are made the same: a website as its bare domain, a profile URL as its canonical one. */
  fold?: 'domain' | 'url' | 'words'
  /** The value that the service takes without it. */
  default?: boolean | number | string
  isRequired?: true
  /** Least and greatest value of a number, or fewest and most entries of a list. */
  within?: readonly [number, number]
  /** A pattern of texts, with its name for an error: `a UUID`. */
  matches?: readonly [RegExp, string]
  /** Narrows a search. A search without any filter asks for everything. */
  isFilter?: true
}

export type JsonType = 'string' | 'number' | 'boolean' | 'array' | 'object'

/** A field of an answer that a reader uses or the description names. */
export interface AnswerField {
  origin: Origin
  /** Its type where it is not null. Absent: not shown. */
  is?: JsonType
  /** The vocabulary that its values teach. */
  teaches?: VocabularyName
  /** True where an answer without it cannot be used. */
  isNeeded?: true
}

/** The place of rows or a document that are the answer itself, and not below a key of it. */
export const wholeAnswer = '$'

/** Returns the path of a place in the shape of an answer, where the answer itself has none. */
export function shapePath(place: string): string {
  return place === wholeAnswer ? '' : place
}

/** The places of an answer that are read. Paths are dotted: `data.pagination.total_entries`. */
export interface AnswerShape {
  /** Fields of its rows that the description says are not there (section 4.4). */
  without?: readonly string[]
  /** The place of the record or document of a lookup, read or action, or of the rows of a search; `$` for the answer itself. */
  at: Claim<string>
  /** Present for a search. */
  rows?: { id: Claim<string>; total: Claim<string> }
  /** By path below the document or the row, with `[]` for the entries of a list. A name that ends with `*` stands for several. */
  fields: Readonly<Record<string, AnswerField>>
}

/** An operation as it is on the wire. Its kind, pace and freshness stand in its row of `domain/operations.ts`. */
export interface CatalogueEntry {
  operation: Operation
  summary: string
  method: Claim<HttpMethod>
  /** Below the base address, with `{name}` for parameters and the neutral network word. */
  path: Claim<string>
  access: Claim<Access>
  /** USD for one request, `free`, or `unknown`: a challenge, an answer or the settings say it. */
  price: Claim<string>
  request: Readonly<Record<string, RequestField>>
  /** Keys of which a request must have exactly one: the references to one company. */
  oneOf?: readonly string[]
  answer: AnswerShape
  timeoutMs: number
  /** The keys whose values determine its price. */
  pricedBy?: readonly string[]
  /** Further paths of the same operation, for several lookups at once. */
  more?: Readonly<Partial<Record<FurtherPath, Claim<string>>>>
  /** The further keys of a body for several lookups at once. */
  batchRequest?: Readonly<Record<string, RequestField>>
}

export type Family = Readonly<Partial<Record<Operation, Omit<CatalogueEntry, 'operation'>>>>

export function assumed<const T>(value: T): Claim<T> {
  return { value, origin: 'assumed' }
}

export function shown<const T>(section: string, value: T): Claim<T> {
  return { value, origin: `shown ${section}` }
}
