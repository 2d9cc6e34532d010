import { canonicalProfileUrl, type LookupKey } from '../keys.ts'
import type { Identifier } from './identifiers.ts'
import type { ObjectKind } from '../words.ts'

/** The subject that a lookup's key names: the parts behind the operation are canonical already. */
export function identifiersOfKey(key: LookupKey): Identifier[] {
  return key
    .split('|')
    .slice(1)
    .flatMap((part): Identifier[] => {
      if (part.startsWith('email:')) return [{ kind: 'email', value: part.slice('email:'.length) }]
      if (part.startsWith('phone:')) return [{ kind: 'phone', value: part.slice('phone:'.length) }]
      return /^[^/]+\/(in|pub|company)\//.test(part) ? [{ kind: 'profile_url', value: part }] : []
    })
}

export function isNamed(marks: readonly Identifier[], by: ReadonlyMap<string, Identifier>): boolean {
  return marks.some(({ kind, value }) => by.has(`${kind}|${value}`))
}

/** The profile that an answer is about, wherever the answer's kind has it: the one nearest to its root. */
export function profilesIn(answer: unknown, object: ObjectKind): Identifier[] {
  const marks: Identifier[] = []
  let level: unknown[] = [answer]
  for (let depth = 0; depth < 3 && marks.length === 0; depth += 1) {
    const objects = level.filter(isObject)
    for (const each of objects) {
      const url = each['profnet_url']
      const mark = typeof url === 'string' ? canonicalProfileUrl(object, url) : undefined
      if (mark?.ok) marks.push({ kind: 'profile_url', value: mark.value })
    }
    // Lists are of others; only what stands alone below the root is the subject.
    level = objects.flatMap((each) => Object.values(each).filter(isObject))
  }
  return marks
}

const erasedText = '[erased]'

/**
 * Takes every trace of a subject out of a JSON value: an element of a list that has the subject's profile, address or
 * phone goes as a whole, and so does everything else in it; elsewhere the text alone is replaced.
 */
export function scrub(value: unknown, marks: readonly Identifier[]): { value: unknown; isChanged: boolean } {
  let isChanged = false
  const names = (text: string): boolean => marks.some((mark) => isIn(text, mark))
  const clean = (part: unknown): unknown => {
    if (typeof part === 'string') {
      if (!names(part)) return part
      isChanged = true
      return erasedText
    }
    if (Array.isArray(part)) {
      const kept = part.filter(
        (element) =>
          !(isObject(element) && Object.values(element).some((one) => typeof one === 'string' && names(one))),
      )
      if (kept.length < part.length) isChanged = true
      return kept.map(clean)
    }
    if (!isObject(part)) return part
    return Object.fromEntries(Object.entries(part).map(([name, one]) => [name, clean(one)]))
  }
  return { value: clean(value), isChanged }
}

/** Never a part of a longer name: ann@ is not in joann@, nor /in/ann in /in/anna. */
function isIn(text: string, { kind, value }: Identifier): boolean {
  switch (kind) {
    case 'profile_url': {
      const path = value.slice(value.indexOf('/'))
      return [path, encodeURI(path)].some((form) => stands(text, form, '', '[\\p{L}\\p{N}%_-]'))
    }
    case 'email':
      return stands(text, value, '[\\p{L}\\p{N}._%+-]', '[\\p{L}\\p{N}-]|\\.[\\p{L}\\p{N}]')
    case 'phone':
      return stands(text.replace(/[\s()./-]/g, ''), value, '', '\\d')
    case 'domain':
      return false
  }
}

function stands(text: string, name: string, notBefore: string, notAfter: string): boolean {
  const before = notBefore === '' ? '' : `(?<!${notBefore})`
  const escaped = name.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
  return new RegExp(`${before}${escaped}(?!${notAfter})`, 'iu').test(text)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
