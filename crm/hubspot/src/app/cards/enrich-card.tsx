import { hubspot } from '@hubspot/ui-extensions'
import { EnrichRecord } from './enrich-record.tsx'

hubspot.extend<'crm.record.sidebar'>(({ context, actions }) => (
  <EnrichRecord context={context} actions={actions} />
))
