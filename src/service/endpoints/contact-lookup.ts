import { z } from 'zod'
import type { BatchEndpoint } from './batch-endpoint.ts'
import {
  contactEntrySchema,
  inputsOf,
  singleContactSchema,
  switchSchema,
  type ContactEntry,
} from './contact-entry.ts'
import { decodeContacts } from './decode-contacts.ts'
import type { Endpoint } from './endpoint.ts'

/**
 * Looks a contact up by e-mail, by phone, or by name with domain or company (service.md, 4.4). A billable match costs
 * one credit; a miss costs none.
 */
export const contactLookup = {
  operation: 'contact.lookup',
  request: singleContactSchema,
  timeoutMs: 30_000,
  // A single answer can be assigned without the entry itself.
  decode: (body) => decodeContacts(body, [{}]).get(0)!,
} satisfies Endpoint

export interface ContactSettings {
  /**
   * True where an entry without a match by e-mail or phone is also searched by name. An entry with neither is always
   * searched by name.
   */
  is_enable_similarity_search?: boolean | undefined
}

/** Looks many contacts up in one request. Duplicates among them cost nothing. */
export const contactLookupBatch = {
  operation: 'contact.lookup',
  timeoutMs: 60_000,
  max: 100,
  entry: contactEntrySchema,
  shared: z.strictObject({ is_enable_similarity_search: switchSchema.optional() }),
  split: ({ is_enable_similarity_search: similarity, ...entry }) => ({
    entry,
    shared: similarity === undefined ? {} : { is_enable_similarity_search: similarity },
  }),
  identity: (entry) => inputsOf(entry)[0] ?? '',
  body: (entries, shared) => ({ peoples: entries, ...shared }),
  entriesOf: (body) => z.object({ peoples: z.array(contactEntrySchema) }).parse(body).peoples,
  priceClass: (entries) => `${entries.length} ${entries.length === 1 ? 'entry' : 'entries'}`,
  decode: decodeContacts,
} satisfies BatchEndpoint<ContactEntry, ContactSettings>
