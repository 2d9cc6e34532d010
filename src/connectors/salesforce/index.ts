export { createSalesforceConnector, type SalesforceOptions } from './salesforce-connector.ts'

export type { SalesforceAuth } from './api/login.ts'
