import type { CrmMapping } from '../../../domain/mapping/mapping.ts'
import type { HubspotApi } from '../api/client.ts'
import type { HubspotProperties } from '../properties.ts'

export interface NotingDeps {
  api: HubspotApi
  properties: HubspotProperties
  mapping: CrmMapping
  now: () => number
  /** A private app's token, whose scopes can be read. */
  accessToken?: string
}
