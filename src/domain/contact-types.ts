/** The closed vocabulary of `people_contact_types` (service.md, 4.4), the cheaper first. */
export const contactTypes = ['email-work', 'email-personal', 'phone'] as const
export type ContactType = (typeof contactTypes)[number]

/** The canonical fields that each type may fill. */
export const contactFields: Readonly<Record<ContactType, readonly string[]>> = {
  'email-work': ['email'],
  'email-personal': ['email_personal'],
  phone: ['phone', 'mobile_phone'],
}

/** Checks a type before it is sent, because the service answers an unknown type with an empty success. */
export function isContactType(text: string): text is ContactType {
  return (contactTypes as readonly string[]).includes(text)
}
