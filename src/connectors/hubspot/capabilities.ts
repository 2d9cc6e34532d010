import type { Capabilities } from '../connector.ts'

export const capabilities: Capabilities = {
  keepsValues: true,
  runsInBackground: true,
  scansChanges: true,
  filters: true,
  marksOwnWrites: true,
  tellsQuota: true,
  makesRecords: true,
  takesNotes: true,
}
