import type { FoundContact } from './contact-search.ts'
import { memberOfSlug } from './directory.ts'
import { personUrl } from './contacts.ts'
import { personAnswer } from './person.ts'

/** Returns an element of `peoples` in the answer of a contact lookup: the person, and the entry that it answers. */
export function contactAnswer(
  { slug, confidence, input }: FoundContact,
  { index, isDuplicate }: { index: number; isDuplicate: boolean },
) {
  const { data } = personAnswer(personUrl(slug))
  const known = memberOfSlug(slug)
  return {
    match: { input_index: index, confidence, input, is_duplicate_input: isDuplicate },
    people_search_id: searchIdOf(slug),
    name: data?.name ?? null,
    title: data?.employment_history?.[0]?.title ?? null,
    profnet_url: data?.profnet_url ?? null,
    company_name: data?.company?.company_name ?? null,
    domain: known?.employer.domain ?? null,
  }
}

/** Returns the id of a person in searches and redemptions. */
export function searchIdOf(slug: string): string {
  return `ps-${Buffer.from(slug).toString('base64url')}`
}

/** Returns null for a text that is not the id of a person. */
export function slugOfSearchId(id: string): string | null {
  if (!id.startsWith('ps-')) return null
  const slug = Buffer.from(id.slice(3), 'base64url').toString('utf8')
  return slug !== '' && searchIdOf(slug) === id ? slug : null
}
