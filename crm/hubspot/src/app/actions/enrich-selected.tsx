import { hubspot } from '@hubspot/ui-extensions'
import { EnrichSelection } from './enrich-selection.tsx'

hubspot.extend<'crm.bulkActions'>(({ context }) => <EnrichSelection context={context} />)
