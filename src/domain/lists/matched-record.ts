/** A record of the CRM, by entity and id. */
export interface MatchedRecord {
  entity: string
  recordId: string
}
