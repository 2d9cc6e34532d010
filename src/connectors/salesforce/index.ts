export { createSalesforceConnector, type SalesforceOptions } from './salesforce-connector.ts'
export type { BulkOptions } from './bulk.ts'
export type { WriteHeaders } from './collections.ts'
export type { SalesforceAuth } from './login.ts'
