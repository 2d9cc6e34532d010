import { saveError, type SaveError } from '../errors.ts'
import type { SalesforceType } from '../schema.ts'
import type { FieldValue, SalesforceRecord, SalesforceStore } from '../store.ts'

type Values = Readonly<Record<string, FieldValue>>

const labels: Readonly<Record<string, string>> = {
  WhoId: 'Name ID',
  WhatId: 'Related To ID',
  ParentId: 'Parent ID',
}

/**
 * Returns the error of a new note or task whose record is none, is deleted, or is of another object: `Who` is a person, `What` anything
 * else, and a task about a lead has no `What` (Object Reference, "Task": "If WhoId refers to a lead, then the WhatId field must be empty").
 */
export function activityFault(
  store: SalesforceStore,
  type: SalesforceType,
  values: Values,
): SaveError | undefined {
  if (type !== 'Note' && type !== 'Task') return undefined
  for (const name of type === 'Note' ? ['ParentId'] : ['WhoId', 'WhatId']) {
    const id = values[name]
    if (typeof id !== 'string') continue
    const allowed = store.schema[type].fields.get(name.toLowerCase())?.referenceTo ?? []
    const parentType = typeOf(store, id)
    if (!parentType || !allowed.includes(parentType))
      return saveError('FIELD_INTEGRITY_EXCEPTION', `${labels[name]}: id value of incorrect type: ${id}`, [
        name,
      ])
    const parent = store.get(parentType, id)
    if (!parent) return saveError('INVALID_CROSS_REFERENCE_KEY', 'invalid cross reference id', [name])
    if (parent.deletedAtMs !== undefined) return saveError('ENTITY_IS_DELETED', 'entity is deleted', [name])
    if (parent.fields['IsConverted'] === true)
      return saveError('CANNOT_UPDATE_CONVERTED_LEAD', 'cannot reference converted lead', [name])
  }
  const isAboutLead = typeof values['WhoId'] === 'string' && typeOf(store, values['WhoId']) === 'Lead'
  if (isAboutLead && typeof values['WhatId'] === 'string')
    return saveError('FIELD_INTEGRITY_EXCEPTION', 'Related To must be blank for a task about a lead', [
      'WhatId',
    ])
  return undefined
}

/**
 * Returns whether the API's user may delete the record that a note or task belongs to, and it with it: activities are "Controlled by
 * Parent" in a usual org (Salesforce Help, "Sharing Settings": Activity).
 */
export function mayDeleteParent(store: SalesforceStore, { type, fields }: SalesforceRecord): boolean {
  if (type !== 'Note' && type !== 'Task') return false
  const parents = ['ParentId', 'WhatId', 'WhoId'].flatMap((name) => {
    const id = fields[name]
    const parentType = typeof id === 'string' ? typeOf(store, id) : undefined
    return parentType && typeof id === 'string' ? (store.get(parentType, id) ?? []) : []
  })
  return (
    parents.length > 0 &&
    parents.every(
      (parent) => parent.fields['OwnerId'] === store.apiUserId || store.access.modifyAll.has(parent.type),
    )
  )
}

function typeOf(store: SalesforceStore, id: string): SalesforceType | undefined {
  return Object.values(store.schema).find(({ keyPrefix }) => id.startsWith(keyPrefix))?.name
}
