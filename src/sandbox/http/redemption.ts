import { createHash } from 'node:crypto'
import { contactTypes, type ContactType } from '../../service/schema/contact.ts'
import { searchIdOf, slugOfSearchId } from '../data/contact-answer.ts'
import { personUrl, returnedTypes, revealed } from '../data/contacts.ts'
import { personAnswer } from '../data/person.ts'
import { profileKey } from '../data/profile-url.ts'
import type { Faults } from '../faults/faults.ts'
import type { Prices } from '../prices.ts'
import type { PaidEndpoint } from './paid-endpoint.ts'
import {
  isAbsent,
  isRefused,
  malformed,
  missing,
  OVER_LIMIT,
  parseObject,
  readBody,
  textOf,
  type BadRequest,
} from './request-body.ts'

const TYPES = 'people_contact_types'

/** `POST /redeem/people`: one person, by id or by profile URL. */
export const redemption: PaidEndpoint = {
  name: 'redemptions',
  keys(text, word) {
    const body = parseObject(text)
    const slug = body && slugOf(body['people_search_id'], body[`${word}_url`])
    return slug ? keysOf([slug], body[TYPES]) : []
  },
  ceiling: (text, prices) => ceilingOf(parseObject(text)?.[TYPES], prices),
  answer(ask) {
    const read = readBody(ask, ['people_search_id', 'profnet_url', TYPES])
    if (isRefused(read)) return { refused: read, status: 400 }
    const { people_search_id: id, profnet_url: url, [TYPES]: raw } = read.body
    const types = typesOf(raw)
    if (isRefused(types)) return { refused: types, status: 400 }
    if (isAbsent(id) && isAbsent(url)) return { refused: missing('people_search_id'), status: 400 }
    const slug = slugOf(id, url)
    if (slug === null)
      return { refused: malformed('people_search_id is unknown', 'people_search_id'), status: 400 }
    return {
      data: { peoples: [person(slug, types, ask.faults.current)] },
      credits: costOf([slug], types, ask.prices),
      ignoredFields: read.ignoredFields,
      creditsAt: 'data',
    }
  },
}

interface Batch {
  slugs: string[]
  types: string[]
  credits: number
  /** The number of times it has been polled. */
  asked: number
}

interface Queried {
  status: 200 | 400
  body: unknown
}

export interface RedemptionBatches {
  /** `POST /redeem/people/batch`: starts a batch, which is paid for immediately. */
  start: PaidEndpoint
  /** `POST /redeem/people/batch/query`: free, and only possible with the id. */
  query(text: string | null, contentType: string | undefined, word: string, faults: Faults): Queried
}

export function createRedemptionBatches(): RedemptionBatches {
  const batches = new Map<string, Batch>()

  return {
    start: {
      name: 'redemptions_batch',
      keys(text) {
        const body = parseObject(text)
        return keysOf(
          peoplesOf(body?.['peoples']).flatMap((id) => slugOf(id, undefined) ?? []),
          body?.[TYPES],
        )
      },
      ceiling(text, prices) {
        const body = parseObject(text)
        return new Set(peoplesOf(body?.['peoples'])).size * ceilingOf(body?.[TYPES], prices)
      },
      answer(ask) {
        const read = readBody(ask, ['peoples', TYPES])
        if (isRefused(read)) return { refused: read, status: 400 }
        const types = typesOf(read.body[TYPES])
        if (isRefused(types)) return { refused: types, status: 400 }
        const { peoples } = read.body
        if (isAbsent(peoples) || (Array.isArray(peoples) && peoples.length === 0)) {
          return { refused: missing('peoples'), status: 400 }
        }
        const ids = [...new Set(peoplesOf(peoples))]
        const slugs = ids.flatMap((id) => slugOf(id, undefined) ?? [])
        if (!Array.isArray(peoples) || slugs.length < ids.length) {
          return { refused: malformed('peoples must be a list of ids of people', 'peoples'), status: 400 }
        }
        const most = ask.faults.current.plan.max_redeem_batch
        if (peoples.length > most) {
          const message = `peoples holds ${peoples.length} ids, ${most} at most`
          return { refused: { code: OVER_LIMIT, message, details: { parameter: 'peoples' } }, status: 416 }
        }
        const credits = costOf(slugs, types, ask.prices)
        const id = `rq-${createHash('sha256').update(`${batches.size} ${ask.text}`).digest('hex').slice(0, 24)}`
        batches.set(id, { slugs, types, credits, asked: 0 })
        return {
          data: { redeem_query_id: id, is_completed: false, estimated_time: 1 },
          credits,
          ignoredFields: read.ignoredFields,
          creditsAt: 'nowhere',
        }
      },
    },

    query(text, contentType, word, faults) {
      const read = readBody({ text, contentType, word }, ['redeem_query_id'])
      if (isRefused(read)) return { status: 400, body: read }
      const id = textOf(read.body['redeem_query_id'])
      if (id === undefined) return { status: 400, body: missing('redeem_query_id') }
      const batch = batches.get(id)
      if (batch === undefined) {
        return { status: 400, body: malformed('redeem_query_id is unknown', 'redeem_query_id') }
      }
      batch.asked += 1
      if (batch.asked <= faults.batchPending) {
        return {
          status: 200,
          body: { data: { redeem_query_id: id, is_completed: false, estimated_time: 1 } },
        }
      }
      const peoples = batch.slugs.map((slug) => person(slug, batch.types, faults)).reverse()
      const profile = { total_credit_cost: batch.credits }
      return { status: 200, body: { data: { redeem_query_id: id, is_completed: true, peoples, profile } } }
    },
  }
}

/** An unknown type is not refused: it finds nothing and costs nothing. Without any known type, `emails` is null. */
function person(slug: string, types: readonly string[], { nothingAsEmptyList }: Faults) {
  const known = types.filter(isContactType)
  const answer = known.length === 0 ? { emails: null } : revealed(slug, known)
  const lists = Object.entries(answer).map(([name, list]) => [name, nothingAsEmptyList ? (list ?? []) : list])
  const { data } = personAnswer(personUrl(slug))
  return {
    people_search_id: searchIdOf(slug),
    name: data?.name ?? null,
    profnet_url: data?.profnet_url ?? null,
    ...(Object.fromEntries(lists) as typeof answer),
  }
}

function typesOf(raw: unknown): string[] | BadRequest {
  if (isAbsent(raw) || (Array.isArray(raw) && raw.length === 0)) return missing(TYPES)
  if (!Array.isArray(raw) || !raw.every((each) => typeof each === 'string')) {
    return malformed(`${TYPES} must be a list of strings`, TYPES)
  }
  return raw as string[]
}

function ceilingOf(raw: unknown, prices: Prices): number {
  const types = new Set(Array.isArray(raw) ? raw.filter(isContactType) : [])
  return [...types].reduce((sum, type) => sum + priceOf(type, prices), 0)
}

function costOf(slugs: readonly string[], types: readonly string[], prices: Prices): number {
  return slugs
    .flatMap((slug) => returnedTypes(slug, types.filter(isContactType)))
    .reduce((sum, type) => sum + priceOf(type, prices), 0)
}

function priceOf(type: ContactType, prices: Prices) {
  return type === 'phone' ? prices.phones : prices.emails
}

function isContactType(value: unknown): value is ContactType {
  return contactTypes.includes(value as never)
}

function slugOf(id: unknown, url: unknown): string | null {
  if (!isAbsent(id)) return typeof id === 'string' ? slugOfSearchId(id) : null
  const key = typeof url === 'string' ? profileKey('person', url) : null
  return key === null ? null : key.slice(key.indexOf('/') + 1)
}

function peoplesOf(raw: unknown): unknown[] {
  return Array.isArray(raw) ? raw : []
}

/** Returns one key for each person and type, so that a type that is bought twice is noticed. */
function keysOf(slugs: readonly string[], types: unknown): string[] {
  const known = Array.isArray(types) ? types.filter(isContactType) : []
  return [...new Set(slugs)].flatMap((slug) => known.map((type) => `redeem ${slug} ${type}`))
}
