import { inputKey, isSearchable, searchContact, type SearchedContact } from '../data/contact-search.ts'
import { contactAnswer } from '../data/contact-answer.ts'
import type { PaidAsk, Answered, PaidEndpoint } from './paid-endpoint.ts'
import {
  asObject,
  isAbsent,
  isRefused,
  malformed,
  MISSING_PARAMETER,
  missing,
  OVER_LIMIT,
  parseObject,
  readBody,
  textOf,
} from './request-body.ts'

const entryFields = ['email', 'phone', 'first_name', 'last_name', 'domain', 'company'] as const
const SWITCH = 'is_enable_similarity_search'

/** `POST …/contact/lookup`: one entry, whose fields are in the body itself. */
export const contactLookup: PaidEndpoint = {
  name: 'contacts',
  keys: (text) => keysOf([parseObject(text)]),
  ceiling: (_, prices) => prices.contact,
  answer(ask) {
    const read = readBody(ask, [...entryFields, SWITCH])
    if (isRefused(read)) return { refused: read, status: 400 }
    return lookUp(ask, [read.body], read.body[SWITCH], read.ignoredFields)
  },
}

/** `POST …/contact/lookup/batch`: as many entries in `peoples` as the plan allows. */
export const contactLookupBatch: PaidEndpoint = {
  name: 'contacts_batch',
  keys: (text) => keysOf(peoplesOf(text)),
  ceiling: (text, prices) => peoplesOf(text).length * prices.contact,
  answer(ask) {
    const read = readBody(ask, ['peoples', SWITCH])
    if (isRefused(read)) return { refused: read, status: 400 }
    const { peoples } = read.body
    if (isAbsent(peoples)) return { refused: missing('peoples'), status: 400 }
    if (!Array.isArray(peoples) || !peoples.every((each) => asObject(each) !== null)) {
      return { refused: malformed('peoples must be a list of objects', 'peoples'), status: 400 }
    }
    const most = ask.faults.current.plan.max_contact_lookup_batch
    if (peoples.length > most) {
      const message = `peoples holds ${peoples.length} entries, ${most} at most`
      return { refused: { code: OVER_LIMIT, message, details: { parameter: 'peoples' } }, status: 416 }
    }
    const entries = peoples as Record<string, unknown>[]
    const unknown = new Set(entries.flatMap((each) => Object.keys(each)))
    for (const name of entryFields) unknown.delete(name)
    const ignored = [...read.ignoredFields, ...[...unknown].map((name) => `peoples.${name}`)]
    return lookUp(ask, entries, read.body[SWITCH], ignored)
  },
}

function lookUp(
  { prices }: PaidAsk,
  raw: readonly Record<string, unknown>[],
  similarity: unknown,
  ignoredFields: readonly string[],
): Answered {
  if (similarity !== undefined && similarity !== null && typeof similarity !== 'boolean') {
    return { refused: malformed(`${SWITCH} must be a boolean`, SWITCH), status: 400 }
  }
  for (const entry of raw) {
    const wrong = entryFields.find((name) => !isAbsent(entry[name]) && typeof entry[name] !== 'string')
    if (wrong) return { refused: malformed(`${wrong} must be a string`, wrong), status: 400 }
  }
  const entries = raw.map(entryOf)
  if (!entries.some(isSearchable)) {
    const message = 'Missing parameter: email, phone, or first_name and last_name with domain or company'
    return { refused: { code: MISSING_PARAMETER, message, details: {} }, status: 400 }
  }
  const inputs = new Set<string>()
  let billable = 0
  const peoples = entries.flatMap((entry, index) => {
    if (!isSearchable(entry)) return []
    const key = inputKey(entry)
    const isDuplicate = inputs.has(key)
    inputs.add(key)
    const found = searchContact(entry, similarity === true)
    if (found === null) return []
    if (!isDuplicate) billable += 1
    return [contactAnswer(found, { index, isDuplicate })]
  })
  // Not in the order of the request, so that a client that assigns answers by their order fails.
  return {
    data: { peoples: peoples.reverse() },
    credits: billable * prices.contact,
    ignoredFields,
    creditsAt: 'metadata',
  }
}

function entryOf(raw: Record<string, unknown>): SearchedContact {
  return Object.fromEntries(
    entryFields.flatMap((name) => {
      const text = textOf(raw[name])
      return text === undefined ? [] : [[name, text]]
    }),
  )
}

function peoplesOf(text: string | null): unknown[] {
  const { peoples } = parseObject(text) ?? {}
  return Array.isArray(peoples) ? peoples : []
}

function keysOf(raw: readonly unknown[]): string[] {
  const entries = raw.flatMap((each) => {
    const entry = asObject(each)
    return entry === null ? [] : [entryOf(entry)]
  })
  return [...new Set(entries.filter(isSearchable).map((entry) => `contact ${inputKey(entry)}`))]
}
