import type { CrmMapping } from '../../../domain/mapping/mapping.ts'
import type { SalesforceClient } from '../api/client.ts'
import type { SchemaCache } from '../api/schema-cache.ts'

export interface MakerDeps {
  client: SalesforceClient
  schema: SchemaCache
  mapping: CrmMapping
  /** The hosts of the network's profiles. Default: the published ones. */
  networkHosts: readonly string[] | undefined
  /** The assignment rule for new leads without an owner. */
  autoAssign: boolean | string | undefined
  /** Sends a collection when no other of the object is under way. */
  inTurn: <T>(send: () => Promise<T>) => Promise<T>
  now: () => number
}
