import type { LookupKey } from '../../../src/domain/keys.ts'

/** Returns a text as Postgres takes it. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', ' ')
}

/** Returns the key of the lookup whose profile holds the text. */
export function lookupKey(text: string): LookupKey {
  return `company.profile|profnet.test/company/${storable(text)}` as LookupKey
}
