import type { ProfileKind } from '../data/profile-url.ts'
import { profileKey } from '../data/profile-url.ts'
import { MALFORMED, MISSING_PARAMETER, parseObject, type BadRequest } from './request-body.ts'

export type LookupBody = { url: string; ignoredFields: string[] } | BadRequest

const rules = {
  company: { list: 'companies', segments: 'the path segment /company/' },
  person: { list: null, segments: 'a path segment /in/ or /pub/' },
} as const

/** Reads the body of a lookup by the service's rules. `word` is the network's name in the keys. */
export function readLookupBody(
  kind: ProfileKind,
  word: string,
  contentType: string | undefined,
  text: string | null,
): LookupBody {
  if (!/^application\/json\b/i.test(contentType ?? '')) {
    return { code: MALFORMED, message: 'The content type must be application/json', details: {} }
  }
  const body = parseObject(text)
  if (body === null) return { code: MALFORMED, message: 'The body must be a JSON object', details: {} }

  const parameter = `${word}_url`
  const list = rules[kind].list ?? `${word}_urls`
  const url = body[parameter]
  if (url === undefined || url === null || url === '') {
    return { code: MISSING_PARAMETER, message: `Missing parameter: ${parameter}`, details: { parameter } }
  }
  if (typeof url !== 'string' || !url.startsWith('http') || profileKey(kind, url) === null) {
    const message = `${parameter} must be a full URL that starts with http and contains ${rules[kind].segments}`
    return { code: MALFORMED, message, details: { parameter } }
  }
  const others = body[list]
  if (others !== undefined && !(Array.isArray(others) && others.every((each) => typeof each === 'string'))) {
    return { code: MALFORMED, message: `${list} must be a list of strings`, details: { parameter: list } }
  }
  return { url, ignoredFields: Object.keys(body).filter((key) => key !== parameter && key !== list) }
}

/** Returns the profile that a body asks for, even if the request is otherwise invalid. */
export function keyOf(kind: ProfileKind, word: string, text: string | null): string | null {
  const url = parseObject(text)?.[`${word}_url`]
  return typeof url === 'string' ? profileKey(kind, url) : null
}
