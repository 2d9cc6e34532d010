import type { Change } from './change-log.ts'

/** A record in a list. */
export interface BookEntry {
  id: string
  title: string
  /** The few values by which a person recognises it. */
  hints: string[]
  modifiedAtMs: number
  isGone: boolean
}

export interface BookField {
  name: string
  label: string
  value: string
  /** False where the CRM computes it. */
  isEditable: boolean
}

/** Everything that a CRM holds now, without what was archived or deleted. */
export interface CrmContents {
  /** The ids of the users to whom records can belong. */
  owners: string[]
  /** The values by object and id, those that are empty left out. The stamps that the CRM sets by itself are no values. */
  records: Record<string, Record<string, Record<string, string>>>
}

/** The records of a stand-in as a person sees them in a browser, whatever the CRM calls them. */
export interface CrmBook {
  label: string
  objects(): { name: string; label: string; count: number }[]
  /** In no order. */
  list(object: string): BookEntry[]
  find(object: string, id: string): { entry: BookEntry; fields: BookField[] } | undefined
  changesOf(object: string, id: string): readonly Change[]
  /** Returns all records, notes and tasks: two of these are equal where the CRM is as it was. */
  contents(): CrmContents
  /** Sets one field as a person does; an empty value clears it. Throws for a value that no person could enter. */
  edit(object: string, id: string, field: string, value: string): void
  /** The path of a record in the real CRM, which links to it lead to; undefined for any other path. */
  recordAt(path: string): { object: string; id: string } | undefined
  /** Does what the CRM's own button does: sends Paydirt a signed request. Returns what it answered, in words. */
  press(object: string, id: string): Promise<string>
}
