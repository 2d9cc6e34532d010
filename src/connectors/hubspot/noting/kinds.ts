import type { NoteKind } from '../../noting.ts'
import type { HubspotEntity } from '../api/wire.ts'

export type NoteObject = 'notes' | 'tasks'

export const objectOf: Readonly<Record<NoteKind, NoteObject>> = { note: 'notes', task: 'tasks' }

/** The association from a note or task to a record (https://developers.hubspot.com/docs/api-reference/crm-associations-v4/guide). */
export const associationTypes: Readonly<Record<NoteObject, Record<HubspotEntity, number>>> = {
  notes: { companies: 190, contacts: 202 },
  tasks: { companies: 192, contacts: 204 },
}

export const bodyOf: Readonly<Record<NoteObject, string>> = { notes: 'hs_note_body', tasks: 'hs_task_body' }

/** The properties of which a person changes one, where a person touches a note or task. */
export const shownProperties: Readonly<Record<NoteObject, readonly string[]>> = {
  notes: ['hs_note_body', 'hs_timestamp', 'hubspot_owner_id'],
  tasks: ['hs_task_subject', 'hs_task_body', 'hs_task_status', 'hs_timestamp', 'hubspot_owner_id'],
}

/** HubSpot's specification asks for the right to contacts for every activity, whatever it is tied to. */
export const noteScopes = ['crm.objects.contacts.read', 'crm.objects.contacts.write'] as const
