// One line a connector. The name under which a definition is exported is the name of the connector everywhere: in the
// environment's runs, on the command line, in the ledger. The desk and messages list connectors in the order of their names.
export { csv } from './csv/definition.ts'
export { hubspot } from './hubspot/definition.ts'
export { salesforce } from './salesforce/definition.ts'
