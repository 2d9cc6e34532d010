export { createSalesforceConnector, type SalesforceOptions } from './salesforce-connector.ts'
