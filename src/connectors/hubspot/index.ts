export { createHubspotConnector, type HubspotConnectorOptions } from './hubspot-connector.ts'
