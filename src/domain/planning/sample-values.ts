import type { FieldValue } from '../record.ts'
import { checkValue } from '../values/check-value.ts'
import { kindOf, type ValueKind } from '../values/kinds.ts'
import { objectKinds } from '../words.ts'

/** Short values of each kind: what takes none of them takes no value of the kind. */
const samples: Readonly<Record<ValueKind, readonly FieldValue[]>> = {
  label: ['Acme Co'],
  text: ['Acme Co'],
  url: ['https://abc.com'],
  company_profile: ['https://abc.com/company/a'],
  person_profile: ['https://abc.com/in/a'],
  domain: ['abc.com'],
  email: ['a@abc.com'],
  phone: ['+3225111111'],
  country: ['CU', 'Cuba'],
  year: [1998],
  count: [2],
  change: [2],
  score: [2],
  date: ['2026-11-23'],
  datetime: ['2026-11-23T12:00:00.000Z'],
  flag: [true, false],
}

/**
 * Returns values that a canonical field may have, to try a property with. For a property that takes only some texts, those of
 * them that are values of the field's kind.
 */
export function samplesOf(field: string, only?: readonly string[]): readonly FieldValue[] {
  const kinds = [...new Set(objectKinds.map((object) => kindOf(object, field)))]
  if (!only) return kinds.flatMap((kind) => samples[kind])
  return only.filter((text) => kinds.some((kind) => checkValue(kind, text).ok))
}
