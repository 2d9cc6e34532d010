import { canonicalProfileUrl, type LookupKey } from '../keys.ts'
import type { Identifier } from './identifiers.ts'
import { kindOfName, namedBy } from './names.ts'
import type { ObjectKind } from '../words.ts'

/** Returns the identifiers in a lookup's key. The parts after the operation are canonical already. */
export function identifiersOfKey(key: LookupKey): Identifier[] {
  const named = namedBy(key)
  if (named && kindOfName(named.name) === 'domain' && named.operation.startsWith('company.'))
    return [{ kind: 'domain', value: named.name, isCompany: true }]
  // The path of a page elsewhere may look like a profile: `tw104_url:104.com.tw/company/1a2b`.
  if (named && kindOfName(named.name) === 'page') return []
  return key
    .split('|')
    .slice(1)
    .flatMap((part): Identifier[] => {
      if (part.startsWith('email:')) return [{ kind: 'email', value: part.slice('email:'.length) }]
      if (part.startsWith('phone:')) return [{ kind: 'phone', value: part.slice('phone:'.length) }]
      return /^[^/]+\/(in|pub|company)\//.test(part) ? [{ kind: 'profile_url', value: part }] : []
    })
}

export function isNamed(identifiers: readonly Identifier[], by: ReadonlyMap<string, Identifier>): boolean {
  return identifiers.some(({ kind, value }) => by.has(`${kind}|${value}`))
}

/** Returns the profile that an answer is about: the one nearest to the answer's root. */
export function profilesIn(answer: unknown, object: ObjectKind): Identifier[] {
  const identifiers: Identifier[] = []
  let level: unknown[] = [answer]
  for (let depth = 0; depth < 3 && identifiers.length === 0; depth += 1) {
    const objects = level.filter(isObject)
    for (const each of objects) {
      const url = each['profnet_url']
      const identifier = typeof url === 'string' ? canonicalProfileUrl(object, url) : undefined
      if (identifier?.ok) identifiers.push({ kind: 'profile_url', value: identifier.value })
    }
    // Lists are about others. Only a nested object can be about the subject.
    level = objects.flatMap((each) => Object.values(each).filter(isObject))
  }
  return identifiers
}

const erasedText = '[erased]'

export interface ScrubOptions {
  /** Takes the place of a list element that is removed. Undefined: the list is shorter. */
  inPlace?: unknown
  /** True for a further list element that is about the subject. */
  isAbout?: (element: Readonly<Record<string, unknown>>) => boolean
}

/**
 * Removes every trace of a subject from a JSON value. A list element with the subject's profile, address or phone is removed
 * as a whole. Elsewhere only the text is replaced.
 */
export function scrub(
  value: unknown,
  identifiers: readonly Identifier[],
  { inPlace, isAbout = () => false }: ScrubOptions = {},
): { value: unknown; isChanged: boolean } {
  let isChanged = false
  const names = (text: string): boolean => identifiers.some((identifier) => isIn(text, identifier))
  const clean = (part: unknown): unknown => {
    if (typeof part === 'string') {
      if (!names(part)) return part
      isChanged = true
      return erasedText
    }
    if (Array.isArray(part)) {
      const isNaming = (element: unknown): boolean =>
        isObject(element) &&
        (Object.values(element).some((one) => typeof one === 'string' && names(one)) || isAbout(element))
      return part.flatMap((element: unknown) => {
        if (!isNaming(element)) return [clean(element)]
        isChanged = true
        return inPlace === undefined ? [] : [inPlace]
      })
    }
    if (!isObject(part)) return part
    return Object.fromEntries(Object.entries(part).map(([name, one]) => [name, clean(one)]))
  }
  return { value: clean(value), isChanged }
}

/** Matches whole names only: ann@ is not in joann@, nor /in/ann in /in/anna. */
function isIn(text: string, { kind, value }: Identifier): boolean {
  switch (kind) {
    case 'profile_url': {
      const path = value.slice(value.indexOf('/'))
      return [path, encodeURI(path)].some((form) => containsWhole(text, form, '', '[\\p{L}\\p{N}%_-]'))
    }
    case 'email':
      return containsWhole(text, value, '[\\p{L}\\p{N}._%+-]', '[\\p{L}\\p{N}-]|\\.[\\p{L}\\p{N}]')
    case 'phone':
      return containsWhole(text.replace(/[\s()./-]/g, ''), value, '', '\\d')
    case 'domain':
      return false
  }
}

function containsWhole(text: string, name: string, notBefore: string, notAfter: string): boolean {
  const before = notBefore === '' ? '' : `(?<!${notBefore})`
  const escaped = name.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
  return new RegExp(`${before}${escaped}(?!${notAfter})`, 'iu').test(text)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
