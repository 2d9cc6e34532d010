import { searchIdOf, slugOfSearchId } from '../data/contact-answer.ts'
import { personUrl } from '../data/contacts.ts'
import { personAnswer } from '../data/person.ts'
import { profileKey } from '../data/profile-url.ts'
import type { PaidEndpoint } from '../http/paid-endpoint.ts'
import { isAbsent, isRefused, malformed, missing, parseObject, readBody } from '../http/request-body.ts'

const SWITCH = 'is_enrichment_available'

/** `POST /people/lookup`: the stored record of a person; enriched where the request asks for it, for more credits. */
export const personLookup: PaidEndpoint = {
  name: 'people_lookup',
  keys(text, word) {
    const body = parseObject(text)
    const slug = body && slugOf(body['people_search_id'], body[`${word}_url`])
    return slug ? [`person ${slug}${body[SWITCH] === true ? ' enriched' : ''}`] : []
  },
  ceiling: (text, prices) =>
    parseObject(text)?.[SWITCH] === true ? prices.personEnrichment : prices.personLookup,
  answer(ask) {
    const read = readBody(ask, ['people_search_id', 'profnet_url', SWITCH])
    if (isRefused(read)) return { refused: read, status: 400 }
    const { people_search_id: id, profnet_url: url, [SWITCH]: enriches } = read.body
    if (!isAbsent(enriches) && typeof enriches !== 'boolean') {
      return { refused: malformed(`${SWITCH} must be a boolean`, SWITCH), status: 400 }
    }
    if (isAbsent(id) && isAbsent(url)) return { refused: missing('people_search_id'), status: 400 }
    const slug = slugOf(id, url)
    if (slug === null) {
      const name = isAbsent(id) ? 'profnet_url' : 'people_search_id'
      return { refused: malformed(`${name} names no person`, name), status: 400 }
    }
    const { data } = personAnswer(personUrl(slug), { logoUrl: ask.logoUrl })
    const {
      recent_activities: activities,
      recommendations,
      employment_history: history,
      ...stored
    } = data ?? {}
    const enrichment = { recent_activities: activities, recommendations, employment_history: history }
    return {
      data: data && {
        people_search_id: searchIdOf(slug),
        ...stored,
        ...(enriches === true && enrichment),
      },
      credits: enriches === true ? ask.prices.personEnrichment : ask.prices.personLookup,
      ignoredFields: read.ignoredFields,
      creditsAt: 'metadata',
    }
  },
}

function slugOf(id: unknown, url: unknown): string | null {
  if (!isAbsent(id)) return typeof id === 'string' ? slugOfSearchId(id) : null
  const key = typeof url === 'string' ? profileKey('person', url) : null
  return key === null ? null : key.slice(key.indexOf('/') + 1)
}
