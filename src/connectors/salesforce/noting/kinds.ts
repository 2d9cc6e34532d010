import type { EntityMapping } from '../../../domain/mapping/mapping.ts'
import type { NoteKind } from '../../noting.ts'

export type NoteObject = 'Note' | 'Task'

/**
 * A note is a `Note` and no `ContentNote`: it is made with its tie to the record in one row, needs no right of its own and stands in
 * "Notes & Attachments". A `ContentNote` needs a second row for the tie, and a crash between both leaves a note that belongs to nothing.
 */
export const objectOf: Readonly<Record<NoteKind, NoteObject>> = { note: 'Note', task: 'Task' }

export const textFieldOf: Readonly<Record<NoteObject, string>> = { Note: 'Body', Task: 'Description' }

/** Returns the field by which a note or task names its record: people are the `Who` of a task, accounts its `What`. */
export function tieOf(object: NoteObject, entity: string): string {
  if (object === 'Note') return 'ParentId'
  return entity === 'Account' ? 'WhatId' : 'WhoId'
}

/** Notes and tasks have no canonical fields. */
export const noFields: EntityMapping = { object: 'company', fields: {}, identity: {} } as EntityMapping
