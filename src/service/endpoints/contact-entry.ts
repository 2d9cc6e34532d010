import { z } from 'zod'
import { canonicalDomain } from '../../domain/keys.ts'
import { canonicalEmail } from '../../domain/normalise/email.ts'
import { normalForm } from '../../domain/normalise/normal-form.ts'

const blankIsAbsent = (value: unknown) =>
  typeof value === 'string' && value.trim() === '' ? undefined : value
const word = z.preprocess(blankIsAbsent, z.string().trim().optional())

/** A website address is read as its bare domain (service.md 4.4, rule 3). */
const domain = z.preprocess(
  blankIsAbsent,
  z
    .string()
    .transform((raw, context) => {
      const canonical = canonicalDomain(raw)
      if (canonical.ok) return canonical.value
      context.addIssue({ code: 'custom', message: canonical.reason })
      return z.NEVER
    })
    .optional(),
)

const email = z.preprocess(
  blankIsAbsent,
  z
    .string()
    .trim()
    .refine((value) => canonicalEmail(value).ok, 'is not an e-mail address')
    .optional(),
)

const phone = z.preprocess(
  blankIsAbsent,
  z
    .string()
    .trim()
    .refine((value) => value.replace(/\D/g, '').length >= 5, 'is not a phone number')
    .optional(),
)

const shape = { email, phone, first_name: word, last_name: word, domain, company: word }

/**
 * Schema of one entry of a contact lookup, with the values to search by. A key that the service does not know is
 * refused.
 */
export const contactEntrySchema = z.strictObject(shape).refine(isSearchable, unsearchable())
export type ContactEntry = z.infer<typeof contactEntrySchema>

/** A boolean, or the text of one. */
export const switchSchema = z.union([z.boolean(), z.stringbool()])

/**
 * Schema of a whole request of the single lookup: the entry, and whether an entry without a match by e-mail or phone is
 * also searched by name.
 */
export const singleContactSchema = z
  .strictObject({
    ...shape,
    is_enable_similarity_search: switchSchema.optional(),
  })
  .refine(isSearchable, unsearchable())

/**
 * Returns true when the service would search at all: by e-mail, by phone, or by a whole name with domain or company.
 */
export function isSearchable(entry: Partial<Record<keyof typeof shape, string | undefined>>): boolean {
  if (entry.email !== undefined || entry.phone !== undefined) return true
  const isNamed = entry.first_name !== undefined && entry.last_name !== undefined
  return isNamed && (entry.domain !== undefined || entry.company !== undefined)
}

/**
 * Returns the spellings under which the service may name an entry in `match.input.value`, in the order in which it
 * searches. Two entries with the same first spelling are the same input: the service flags the second one and does not
 * charge it.
 */
export function inputsOf(entry: ContactEntry): string[] {
  const name = [entry.first_name, entry.last_name].filter((each) => each !== undefined).join(' ')
  return [
    entry.email,
    entry.phone?.replace(/\D/g, ''),
    ...(name === '' ? [] : [entry.domain, entry.company].map((place) => place && `${name} ${place}`)),
  ].flatMap((each) => (each === undefined ? [] : [foldInput(each)]))
}

export function foldInput(value: string): string {
  const text = normalForm('NFKC', value).toLowerCase().trim()
  return /^[\d\s()+./-]+$/.test(text) ? text.replace(/\D/g, '') : text.replace(/[\s,;]+/g, ' ')
}

function unsearchable() {
  return {
    message: 'nothing to search by: neither e-mail nor phone, nor a whole name with domain or company',
  }
}
