import type { Connector } from '../../connectors/connector.ts'
import { crmNames, crmOf, variablesNeededBy, type CrmName } from '../../connectors/definitions.ts'
import { gated } from '../../connectors/gate.ts'
import { ConfigError } from '../../domain/errors.ts'
import type { CallBudget } from '../../domain/ports/call-budget.ts'
import type { Config } from '../config/config.ts'

/**
 * Opens a CRM by its name. Throws ConfigError when there is none of this name, when it is not set up, or when its mapping
 * names what there is not. Its client is loaded only now: clients are large, and most commands need none.
 */
export async function openConnector(
  config: Pick<Config, 'connectors'>,
  name: string,
  budget: CallBudget | undefined,
): Promise<Connector> {
  const crm = crmOf(name)
  const settings = config.connectors[name as CrmName]
  if (settings) return gated(await crm.open(settings, { budget }))
  throw new ConfigError('missing_setting', `${name} is not set up: set ${variablesNeededBy(name)}`)
}

export function isConfigured(config: Pick<Config, 'connectors'>, name: CrmName): boolean {
  return config.connectors[name] !== undefined
}

/** Returns the names of the CRMs that are set up. */
export function configuredCrms(config: Pick<Config, 'connectors'>): CrmName[] {
  return crmNames.filter((name) => isConfigured(config, name))
}
