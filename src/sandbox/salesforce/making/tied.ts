import { makeId } from '../ids.ts'
import type { SalesforceType } from '../schema.ts'

export interface ChildRelationship {
  readonly childSObject: string
  readonly field: string
  readonly relationshipName: string
}

const ofAll: readonly ChildRelationship[] = [
  { childSObject: 'Note', field: 'ParentId', relationshipName: 'Notes' },
  { childSObject: 'Attachment', field: 'ParentId', relationshipName: 'Attachments' },
  { childSObject: 'ContentDocumentLink', field: 'LinkedEntityId', relationshipName: 'ContentDocumentLinks' },
]
const ofPerson: readonly ChildRelationship[] = [
  ...ofAll,
  { childSObject: 'Task', field: 'WhoId', relationshipName: 'Tasks' },
  { childSObject: 'Event', field: 'WhoId', relationshipName: 'Events' },
]

/**
 * The child relationships of each object that matter here, as a describe call lists them, with the names of the Object
 * Reference for the Salesforce Platform (Account, Contact, Lead: "Child Relationships").
 */
export const childRelationships: Readonly<Record<SalesforceType, readonly ChildRelationship[]>> = {
  Account: [
    ...ofAll,
    { childSObject: 'Task', field: 'WhatId', relationshipName: 'Tasks' },
    { childSObject: 'Event', field: 'WhatId', relationshipName: 'Events' },
    { childSObject: 'Contact', field: 'AccountId', relationshipName: 'Contacts' },
    { childSObject: 'Opportunity', field: 'AccountId', relationshipName: 'Opportunities' },
    { childSObject: 'Case', field: 'AccountId', relationshipName: 'Cases' },
    { childSObject: 'Account', field: 'ParentId', relationshipName: 'ChildAccounts' },
  ],
  Contact: [
    ...ofPerson,
    {
      childSObject: 'OpportunityContactRole',
      field: 'ContactId',
      relationshipName: 'OpportunityContactRoles',
    },
    { childSObject: 'Case', field: 'ContactId', relationshipName: 'Cases' },
    { childSObject: 'CampaignMember', field: 'ContactId', relationshipName: 'CampaignMembers' },
  ],
  Lead: [
    ...ofPerson,
    { childSObject: 'CampaignMember', field: 'LeadId', relationshipName: 'CampaignMembers' },
  ],
  Note: [],
  Task: [],
}

const prefixes: Readonly<Record<string, string>> = {
  Tasks: '00T',
  Events: '00U',
  Opportunities: '006',
  Cases: '500',
  Notes: '002',
  Attachments: '00P',
  ContentDocumentLinks: '06A',
  OpportunityContactRoles: '00K',
  CampaignMembers: '00v',
}

/** The records that are tied to accounts, contacts and leads: only their ids, by relationship and parent. */
export type TiedRecords = Map<string, Map<string, string[]>>

/** A person adds a task, a case or the like to a record. Returns its id. */
export function tie(tied: TiedRecords, relationship: string, parentId: string): string {
  const ofRelationship = tied.get(relationship) ?? new Map<string, string[]>()
  tied.set(relationship, ofRelationship)
  const count = [...ofRelationship.values()].reduce((sum, ids) => sum + ids.length, 0)
  const id = makeId(prefixes[relationship] ?? 'a00', count + 1)
  ofRelationship.set(parentId, [...(ofRelationship.get(parentId) ?? []), id])
  return id
}

/** The part of the store that has children. */
interface Shelf {
  readonly tied: TiedRecords
  list(type: SalesforceType): Iterable<{
    readonly id: string
    readonly deletedAtMs: number | undefined
    readonly fields: Readonly<Record<string, unknown>>
  }>
}

/** Returns the ids of a record's children, as a subquery selects them: those in the recycle bin are not among them. */
export function childrenOf(store: Shelf, type: SalesforceType, id: string, relationship: string): string[] {
  const child =
    storedActivities[relationship] ?? (type === 'Account' ? storedChildren[relationship] : undefined)
  const added =
    child && !(relationship in storedActivities) ? [] : (store.tied.get(relationship)?.get(id) ?? [])
  if (!child) return added
  const stored = [...store.list(child.type)].filter(
    (record) => record.deletedAtMs === undefined && child.fields.some((name) => record.fields[name] === id),
  )
  return [...added, ...stored.map((record) => record.id)]
}

interface StoredChild {
  readonly type: SalesforceType
  readonly fields: readonly string[]
}

const storedChildren: Readonly<Record<string, StoredChild>> = {
  Contacts: { type: 'Contact', fields: ['AccountId'] },
  ChildAccounts: { type: 'Account', fields: ['ParentId'] },
}

/** Those that the API made; those of `tie` are only ids. */
const storedActivities: Readonly<Record<string, StoredChild>> = {
  Notes: { type: 'Note', fields: ['ParentId'] },
  Tasks: { type: 'Task', fields: ['WhatId', 'WhoId'] },
}
