import { makeLedgerTemplate } from './ledger-template.ts'

export default makeLedgerTemplate
