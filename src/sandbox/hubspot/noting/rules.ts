import { invalidValues, validationError, type HubspotError } from '../errors.ts'
import type { HubspotType } from '../properties.ts'
import type { HubspotStore } from '../store.ts'
import type { ActivityKind, HubspotActivity } from './activities.ts'

/** The properties that a caller may write (guides "CRM: Notes" and "CRM: Tasks" of HubSpot's documentation). */
const activityProperties: Readonly<Record<ActivityKind, readonly string[]>> = {
  notes: ['hs_timestamp', 'hs_note_body', 'hubspot_owner_id', 'hs_attachment_ids'],
  tasks: [
    'hs_timestamp',
    'hs_task_subject',
    'hs_task_body',
    'hs_task_status',
    'hs_task_priority',
    'hs_task_type',
    'hs_task_reminders',
    'hubspot_owner_id',
  ],
}

const options: Readonly<Record<string, readonly string[]>> = {
  hs_task_status: ['NOT_STARTED', 'IN_PROGRESS', 'WAITING', 'COMPLETED', 'DEFERRED'],
  hs_task_priority: ['LOW', 'MEDIUM', 'HIGH', 'NONE'],
  hs_task_type: ['TODO', 'CALL', 'EMAIL', 'LINKED_IN_CONNECT', 'LINKED_IN_MESSAGE'],
}

const longest = 65_536

/** The types of the association from a note or task to a record, and no others are valid. */
const typeIds: Readonly<Record<ActivityKind, Readonly<Record<number, HubspotType>>>> = {
  notes: { 190: 'companies', 202: 'contacts' },
  tasks: { 192: 'companies', 204: 'contacts' },
}

/** Returns the error of a new note's or task's values. */
export function valuesFault(
  store: HubspotStore,
  portalId: number,
  kind: ActivityKind,
  values: Readonly<Record<string, string>>,
): HubspotError | undefined {
  const wrong = (code: string, property: string, message: string): HubspotError =>
    invalidValues([{ code, property, message }], portalId)
  for (const [name, value] of Object.entries(values)) {
    if (!activityProperties[kind].includes(name))
      return wrong('PROPERTY_DOESNT_EXIST', name, `Property "${name}" does not exist`)
    const allowed = options[name]
    if (allowed && !allowed.includes(value))
      return wrong('INVALID_OPTION', name, `${value} was not one of the allowed options`)
    if (value.length > longest) return wrong('MAX_LENGTH', name, 'Too long')
  }
  const at = values['hs_timestamp']
  if (at === undefined || at === '')
    return validationError(
      `Error creating ${kind === 'notes' ? 'NOTE' : 'TASK'}. Some required properties were not set.`,
      {
        context: { properties: ['hs_timestamp'] },
      },
    )
  if (!/^\d{12,13}$/.test(at) && !(/^\d{4}-\d\d-\d\dT/.test(at) && !Number.isNaN(Date.parse(at))))
    return wrong('INVALID_DATE', 'hs_timestamp', `${at} was not a valid long or ISO 8601 date`)
  const owner = values['hubspot_owner_id']
  if (owner && (store.owners.get(owner)?.archived ?? true))
    return wrong(
      'INVALID_OWNER_ID',
      'hubspot_owner_id',
      `The owner ${owner} does not exist, or cannot own records`,
    )
  return undefined
}

interface Association {
  readonly to: { readonly id: string }
  readonly types: readonly { readonly associationCategory: string; readonly associationTypeId: number }[]
}

/** Returns the ties of a new note or task, or the error of the first that is not valid. */
export function tiesFrom(
  store: HubspotStore,
  kind: ActivityKind,
  associations: readonly Association[],
): { ties: HubspotActivity['ties'] } | { error: HubspotError } {
  const ties: HubspotActivity['ties'] = []
  for (const { to, types } of associations)
    for (const { associationCategory, associationTypeId } of types) {
      const type = associationCategory === 'HUBSPOT_DEFINED' ? typeIds[kind][associationTypeId] : undefined
      const record = type && store.get(type, to.id)
      if (!type || !record || record.archivedAtMs !== undefined)
        return {
          error: validationError(
            `One or more associations are not valid: ${type ? 'the object does not exist' : `no type ${associationTypeId} from ${kind}`}`,
            { context: { toObjectId: [to.id] } },
          ),
        }
      ties.push({ type, id: record.id })
    }
  return { ties }
}
