import { companyAnswer } from '../data/company.ts'
import { personAnswer } from '../data/person.ts'
import type { ProfileKind } from '../data/profile-url.ts'
import { keyOf, readLookupBody } from './lookup-body.ts'
import type { PaidEndpoint } from './paid-endpoint.ts'

/** The two lookups by profile URL (service.md, 4.1 and 4.2). Their answers carry no credit block. */
export function profileEndpoint(kind: ProfileKind): PaidEndpoint {
  return {
    name: kind === 'company' ? 'companies' : 'people',
    keys(text, word) {
      const key = keyOf(kind, word, text)
      return key === null ? [] : [key]
    },
    ceiling: (_, prices) => prices.profile,
    answer({ text, contentType, word, prices, logoUrl }) {
      const body = readLookupBody(kind, word, contentType, text)
      if ('code' in body) return { refused: body, status: 400 }
      const answer = kind === 'company' ? companyAnswer : personAnswer
      const { data } = answer(body.url, { logoUrl })
      return { data, credits: prices.profile, ignoredFields: body.ignoredFields, creditsAt: 'nowhere' }
    },
  }
}
