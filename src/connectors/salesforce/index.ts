export { createSalesforceConnector, type SalesforceOptions } from './salesforce-connector.ts'
export type { BulkOptions } from './api/bulk.ts'
export type { WriteHeaders } from './api/collections.ts'
export type { SalesforceAuth } from './api/login.ts'
