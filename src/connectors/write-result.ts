/** A field of a patch that did not fit the CRM's field, and was not sent. `field` is canonical. */
export interface LeftOut {
  field: string
  code: string
  reason: string
}

/**
 * The result of one record's patch. A connector returns one for every patch, in the same order. Reasons and codes never
 * contain a record's values. `field` is canonical where the mapping knows it, else the CRM's own name.
 */
export type WriteResult =
  /** Written, except for the fields in `leftOut`. */
  | { id: string; status: 'written'; leftOut?: LeftOut[] }
  /** The patch was empty: nothing was sent. */
  | { id: string; status: 'unchanged' }
  /** There is no record to write to: it was deleted, merged or converted since it was read. */
  | { id: string; status: 'skipped'; reason: string }
  /**
   * The CRM refused it, or no field of the patch fits (`unsent`). The same patch fails again until the record or the
   * account changes.
   */
  | { id: string; status: 'rejected'; code: string; field?: string; reason: string; unsent?: true }
  /** Not written. The same patch can be sent again after `afterMs`; this does not count as an attempt. */
  | { id: string; status: 'retry'; afterMs: number; reason: string }
