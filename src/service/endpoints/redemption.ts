import { z } from 'zod'
import type { Fact } from '../../domain/record.ts'
import { contactTypes, type ContactType } from '../schema/contact.ts'
import { allUnreadable, type DeferredEndpoint, type StartedQuery } from './batch-endpoint.ts'
import { readRedeemed, type RedeemedPerson } from './decode-redemption.ts'
import type { Endpoint } from './endpoint.ts'
import { asRecord, objectOf } from './peoples.ts'
import { redemptionQuerySchema } from '../schema/contact.ts'

/**
 * The closed vocabulary, each word once and in one order, so that the same types always give the same body. It is
 * checked before anything is sent: the service answers an unknown word with 200, null and no cost, which looks like a
 * person without contact data.
 */
const contactTypesSchema = z
  .array(z.enum(contactTypes))
  .min(1)
  .transform((types) => contactTypes.filter((type) => types.includes(type)))

const id = z.string().trim().min(1)

/**
 * Buys the e-mails and phones of one person, of the requested types. The service charges for each type that it returns.
 */
export const redemption = {
  operation: 'contact.redeem',
  request: z
    .strictObject({
      people_search_id: id.optional(),
      profnet_url: z
        .url({ protocol: /^https?$/ })
        .regex(/\/(in|pub)\//)
        .optional(),
      people_contact_types: contactTypesSchema,
    })
    .refine(
      ({ people_search_id: searchId, profnet_url: url }) => (searchId === undefined) !== (url === undefined),
      'names one person: by people_search_id or by profnet_url',
    ),
  timeoutMs: 60_000,
  priceClass: (request) =>
    (request as { people_contact_types: ContactType[] }).people_contact_types.join(', '),
  decode: (body) => {
    const people = readRedeemed(body)
    if (!people) return { outcome: 'unreadable', data: { raw: body, problem: 'no list of people' } }
    if (people.length > 1) return { outcome: 'unreadable', data: { raw: body, problem: 'several people' } }
    return people[0]?.fact ?? { outcome: 'not_found', data: null }
  },
} satisfies Endpoint

const entry = z.strictObject({ people_search_id: id })
const shared = z.strictObject({ people_contact_types: contactTypesSchema })
const body = z.object({ peoples: z.array(id) })

/**
 * Buys contact data of the same types for many people by id. The request is started, and its answer is polled until it
 * is complete.
 */
export const redemptionBatch = {
  operation: 'contact.redeem',
  timeoutMs: 60_000,
  max: 100,
  entry,
  shared,
  split: ({ people_search_id: searchId, people_contact_types: types, ...others }) =>
    searchId === undefined
      ? undefined
      : { entry: { people_search_id: searchId, ...others }, shared: { people_contact_types: types } },
  identity: (each) => each.people_search_id,
  body: (entries, { people_contact_types: types }) => ({
    peoples: entries.map((each) => each.people_search_id),
    people_contact_types: types,
  }),
  entriesOf: (sent) => body.parse(sent).peoples.map((each) => ({ people_search_id: each })),
  priceClass: (entries, { people_contact_types: types }) => `${entries.length} people, ${types.join(', ')}`,
  started,
  query: {
    timeoutMs: 30_000,
    body: (queryId) => ({ redeem_query_id: queryId }),
  },
  decode: decodeBatch,
} satisfies DeferredEndpoint<z.output<typeof entry>, z.output<typeof shared>>

function started(answer: string): StartedQuery | undefined {
  const whole = objectOf(answer)
  for (const place of [asRecord(whole?.['data']), whole]) {
    const query = redemptionQuerySchema.safeParse(place)
    if (!query.success) continue
    const { redeem_query_id: queryId, is_completed: isCompleted, estimated_time: time } = query.data
    if (!queryId && isCompleted !== true) continue
    const seconds = Number.parseFloat(String(time ?? ''))
    return {
      queryId: queryId ?? '',
      isCompleted: isCompleted === true,
      estimatedMs: Number.isFinite(seconds) ? Math.max(0, seconds * 1000) : undefined,
    }
  }
  return undefined
}

/** Assigns people by id, in any order. A person who is missing was asked for and has no contact data. */
function decodeBatch(answer: string, entries: readonly { people_search_id: string }[]): Map<number, Fact> {
  const people = readRedeemed(answer)
  if (!people) return allUnreadable(entries.length, answer, 'no list of people')
  const byId = new Map<string, Fact>()
  const strangers: RedeemedPerson[] = []
  const asked = new Set(entries.map((each) => each.people_search_id))
  for (const person of people) {
    if (person.id === undefined || !asked.has(person.id)) strangers.push(person)
    else if (byId.get(person.id)?.outcome !== 'found') byId.set(person.id, person.fact)
  }
  return new Map(
    entries.map(({ people_search_id: searchId }, index) => [index, byId.get(searchId) ?? missing(strangers)]),
  )
}

function missing(strangers: readonly RedeemedPerson[]): Fact {
  if (strangers.length === 0) return { outcome: 'not_found', data: null }
  const problem = 'the answer holds people that were not asked for'
  return { outcome: 'unreadable', data: { raw: JSON.stringify(strangers.map(({ raw }) => raw)), problem } }
}
