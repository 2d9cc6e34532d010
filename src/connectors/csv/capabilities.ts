import type { Capabilities } from '../connector.ts'

/** A file is read once from its begin to its end, and its result is another file. */
export const capabilities: Capabilities = {
  keepsValues: false,
  runsInBackground: false,
  scansChanges: false,
  filters: false,
  marksOwnWrites: false,
  tellsQuota: false,
  makesRecords: false,
  takesNotes: false,
}
