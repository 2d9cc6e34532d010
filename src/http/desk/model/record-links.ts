/** Recognises profiles, and gives the desk its links to them. Wired in app/web/record-links.ts. */
export interface RecordLinks {
  /** The hosts of the network's profiles. */
  hosts: readonly string[]
  /** Returns the address of a record's page in its CRM. Undefined where it is not known. */
  recordUrl(place: { connector: string; entity: string; id: string }): Promise<string | undefined>
  /** Returns the address of a transaction in a block explorer. Undefined for a chain without one. */
  transactionUrl(network: string, transaction: string): string | undefined
}
