import { z } from 'zod'
import { ConfigError } from '../domain/errors.ts'
import { rowsOfLists } from '../domain/words.ts'
import type { Capabilities } from './connector.ts'
import type { CrmDefinition, FileDefinition } from './definition.ts'
import * as registry from './registry.ts'

type Registry = typeof registry
export type ConnectorName = keyof Registry
/** The connectors that are set up and synced by name. */
export type CrmName = {
  [Name in ConnectorName]: Registry[Name] extends { kind: 'crm' } ? Name : never
}[ConnectorName]

/** The settings of each CRM, undefined for one that is not set up. */
export type ConnectorsConfig = {
  [Name in CrmName]: NonNullable<ReturnType<Registry[Name]['readSettings']>> | undefined
}

const all: Readonly<Record<string, CrmDefinition | FileDefinition>> = registry

export const connectorNames = Object.keys(all) as [ConnectorName, ...ConnectorName[]]
export const crmNames = connectorNames.filter((name) => all[name]?.kind === 'crm') as [CrmName, ...CrmName[]]

export function isConnectorName(name: string): name is ConnectorName {
  return Object.hasOwn(all, name)
}

export function isCrmName(name: string): name is CrmName {
  return (crmNames as string[]).includes(name)
}

/** Throws ConfigError for a name that no connector has. */
export function definitionOf(name: string): CrmDefinition | FileDefinition {
  const found = Object.hasOwn(all, name) ? all[name] : undefined
  if (found) return found
  throw new ConfigError(
    'no_such_connector',
    `there is no connector ${name}; there are ${connectorNames.join(', ')}`,
  )
}

/** Throws ConfigError for a name that no CRM has. */
export function crmOf(name: string): CrmDefinition {
  const found = Object.hasOwn(all, name) ? all[name] : undefined
  if (found?.kind === 'crm') return found
  throw new ConfigError('no_such_connector', `there is no CRM ${name}; there are ${crmNames.join(', ')}`)
}

/** Returns the variables that must be set for a CRM, as messages list them: `A, B and C`. */
export function variablesNeededBy(name: string): string {
  const names = [...crmOf(name).needs]
  const last = names.pop() ?? ''
  return names.length > 0 ? `${names.join(', ')} and ${last}` : last
}

/** Returns the names of the connectors that lack a capability. */
export function connectorsWithout(capability: keyof Capabilities): ConnectorName[] {
  return connectorNames.filter((name) => !definitionOf(name).capabilities[capability])
}

/** Returns the sources of runs that end with the command that began them. */
export function foregroundSources(): string[] {
  return [...connectorsWithout('runsInBackground'), rowsOfLists]
}

/** True for a source whose records keep the values that are written. Calls of the service itself have no source. */
export function keepsValues(name: string): boolean {
  return isConnectorName(name) && definitionOf(name).capabilities.keepsValues
}

/** Returns an object with one value for each CRM. */
function eachCrm<T>(make: (definition: CrmDefinition, name: CrmName) => T): Record<CrmName, T> {
  return Object.fromEntries(crmNames.map((name) => [name, make(crmOf(name), name)])) as Record<CrmName, T>
}

type UnionToIntersection<Union> = (Union extends unknown ? (each: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never

/** The environment variables of all CRMs. */
export const connectorVariables = Object.assign(
  {},
  ...Object.values(eachCrm(({ variables }) => variables)),
) as UnionToIntersection<Registry[CrmName]['variables']>

/** The `connectors` of `paydirt.config.ts`. */
export const connectorsSchema = z.strictObject(
  eachCrm(({ file }) => file.optional()) as {
    [Name in CrmName]: z.ZodOptional<Registry[Name]['file']>
  },
)

export type ConnectorsEnvironment = z.output<z.ZodObject<typeof connectorVariables>>

/** Reads the settings of every CRM. Throws ConfigError for one that is set up by halves. */
export function readConnectors(
  env: ConnectorsEnvironment,
  file: z.output<typeof connectorsSchema> = {},
): ConnectorsConfig {
  return eachCrm((definition, name) => definition.readSettings(env, file[name])) as ConnectorsConfig
}
