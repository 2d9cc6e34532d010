export { createHubspotConnector, type HubspotConnectorOptions } from './hubspot-connector.ts'
export type { HubspotAuth } from './tokens.ts'
