import type { Connector } from '../../connectors/connector.ts'
import { crmNames, crmOf, isCrmName, variablesNeededBy, type CrmName } from '../../connectors/definitions.ts'
import { gated } from '../../connectors/gate.ts'
import { indexed } from '../../connectors/indexed.ts'
import { metered } from '../../connectors/metered.ts'
import { ConfigError, InputError } from '../../domain/errors.ts'
import type { Config } from '../config/config.ts'
import { mistakenCredentials } from '../config/unknown-variables.ts'
import type { Engine } from './engine.ts'

/**
 * Opens a CRM by its name. Throws ConfigError when there is none of this name, when it is not set up, or when its mapping
 * names what there is not. Its client is loaded only now: clients are large, and most commands need none.
 */
export async function openConnector(
  config: Pick<Config, 'connectors'> & Partial<Pick<Config, 'networkHosts'>>,
  name: string,
  engine: Partial<Pick<Engine, 'callBudget' | 'meter' | 'recordIndex'>> | undefined,
): Promise<Connector> {
  const crm = crmOf(name)
  const settings = config.connectors[name as CrmName]
  if (settings) {
    const { networkHosts } = config
    const connector = gated(await crm.open(settings, { budget: engine?.callBudget, networkHosts }))
    const measured = engine?.meter ? metered(connector, engine.meter) : connector
    return engine?.recordIndex ? indexed(measured, engine.recordIndex) : measured
  }
  const mistaken = mistakenCredentials(name as CrmName)
  throw new ConfigError(
    'missing_setting',
    `${name} is not set up: set ${variablesNeededBy(name)}${mistaken === '' ? '' : `. ${mistaken}`}`,
  )
}

export function isConfigured(config: Pick<Config, 'connectors'>, name: CrmName): boolean {
  return config.connectors[name] !== undefined
}

/** Returns the names of the CRMs that are set up. */
export function configuredCrms(config: Pick<Config, 'connectors'>): CrmName[] {
  return crmNames.filter((name) => isConfigured(config, name))
}

/** Lends the connector that the process has open, or opens one for the work. */
export async function withConnector<T>(
  { config, connectors }: { config: Config; connectors: ReadonlyMap<string, Connector> },
  name: string,
  work: (connector: Connector) => Promise<T>,
): Promise<T> {
  const shared = connectors.get(name)
  if (shared) return work(shared)
  if (!isCrmName(name)) throw new InputError('no_such_connector', `there is no connector ${name}`)
  const connector = await openConnector(config, name, undefined)
  try {
    return await work(connector)
  } finally {
    await connector.close()
  }
}
