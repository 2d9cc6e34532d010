interface ActivityField {
  readonly name: string
  readonly type: 'reference' | 'string' | 'textarea' | 'boolean' | 'date' | 'picklist'
  readonly length?: number
  readonly nillable?: boolean
  readonly updateable?: boolean
  readonly createable?: boolean
  readonly defaultedOnCreate?: boolean
  readonly picklist?: readonly string[]
  readonly isRestricted?: boolean
  readonly referenceTo?: readonly string[]
}

const parents = ['Account', 'Contact', 'Lead']

/** The fields of a note beside those of the system, after the Object Reference ("Note"). Its parent never changes. */
export const noteFields: readonly ActivityField[] = [
  {
    name: 'ParentId',
    type: 'reference',
    nillable: false,
    updateable: false,
    createable: true,
    referenceTo: parents,
  },
  { name: 'Title', type: 'string', length: 80, nillable: false },
  { name: 'Body', type: 'textarea' },
  { name: 'IsPrivate', type: 'boolean', nillable: false },
]

/** The fields of a task beside those of the system, after the Object Reference ("Task"). */
export const taskFields: readonly ActivityField[] = [
  { name: 'WhoId', type: 'reference', referenceTo: ['Contact', 'Lead'] },
  { name: 'WhatId', type: 'reference', referenceTo: ['Account'] },
  { name: 'Subject', type: 'string' },
  { name: 'Description', type: 'textarea' },
  { name: 'ActivityDate', type: 'date' },
  {
    name: 'Status',
    type: 'picklist',
    picklist: ['Not Started', 'In Progress', 'Completed', 'Waiting on someone else', 'Deferred'],
    isRestricted: true,
    nillable: false,
    defaultedOnCreate: true,
  },
  {
    name: 'Priority',
    type: 'picklist',
    picklist: ['High', 'Normal', 'Low'],
    isRestricted: true,
    nillable: false,
    defaultedOnCreate: true,
  },
  { name: 'IsClosed', type: 'boolean', nillable: false, updateable: false },
]

export const taskDefaults = { Status: 'Not Started', Priority: 'Normal' } as const
