import type { CrmMapping } from '../../../domain/mapping/mapping.ts'
import type { HubspotApi } from '../api/client.ts'
import type { HubspotProperties } from '../properties.ts'

/** The parts of the connector with which records are found and made. */
export interface MakerDeps {
  api: HubspotApi
  properties: HubspotProperties
  mapping: CrmMapping
  /** The hosts of the network's profiles. Default: the published ones. */
  networkHosts?: readonly string[] | undefined
  now: () => number
  /** A private app's token, whose scopes can be read. */
  accessToken?: string | undefined
}
