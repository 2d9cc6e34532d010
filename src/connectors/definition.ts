import type { z } from 'zod'
import type { CrmMapping } from '../domain/mapping/mapping.ts'
import type { MappingConfig } from '../domain/mapping/schema.ts'
import type { CallBudget } from '../domain/ports/call-budget.ts'
import type { ObjectKind } from '../domain/words.ts'
import type { Capabilities, Connector } from './connector.ts'

/**
 * Everything that the program must know of a connector before one is opened. Definitions are loaded by every command:
 * they import no client.
 */
interface Definition {
  /** The name as people write it: `HubSpot`. */
  readonly label: string
  readonly capabilities: Capabilities
  /** Each entity with the kind of object that it stands for. */
  readonly entities: Readonly<Record<string, ObjectKind>>
  /** Returns the one form of a record's id that the ledger keeps; other spellings of the same id are folded into it. */
  canonicalId(id: string): string
}

/** A file that a command names. The command opens it, and writes the result into another file. */
export interface FileDefinition<File extends z.ZodType = z.ZodType> extends Definition {
  readonly kind: 'file'
  /** Its part of `paydirt.config.ts`. Every key is optional. */
  readonly file: File
}

/** The settings of a CRM, resolved from the environment and the config file. */
export interface CrmSettings {
  /** Changes to the default mapping. */
  mapping?: MappingConfig | undefined
}

/** Shared resources with which a CRM is opened, besides its own settings. */
interface OpenOptions {
  /** Shared by all processes that use the account. Absent: this process counts alone. */
  budget: CallBudget | undefined
  /** The hosts of the network's profiles, under all of which a record is looked for. Absent: the published ones. */
  networkHosts?: readonly string[] | undefined
}

/** The place of one record. */
interface RecordPlace {
  /** The account's id as `check` returns it, where it is known. */
  accountId: string | undefined
  entity: string
  id: string
}

/** A source of records that is set up once, by environment and config file, and can then be synced by its name. */
export interface CrmDefinition<
  Variables extends z.ZodRawShape = z.ZodRawShape,
  File extends z.ZodType = z.ZodType,
  Settings extends CrmSettings = CrmSettings,
> extends Definition {
  readonly kind: 'crm'
  /** The environment variables that it reads, each with its schema. */
  readonly variables: Variables
  /** The variables that the usual way to connect an account needs, all of them. */
  readonly needs: readonly (keyof Variables & string)[]
  /** Variables that a setup asks for too, and that may stay blank. */
  readonly offers?: readonly (keyof Variables & string)[]
  /** The address of the CRM, which is another one for a stand-in on this machine. Others need not be asked for it. */
  readonly addressOf?: keyof Variables & string
  /** Its part of `connectors` in `paydirt.config.ts`. Every key is optional. */
  readonly file: File
  /** Returns undefined when the CRM is not set up. Throws ConfigError when it is set up by halves. */
  readSettings(env: z.output<z.ZodObject<Variables>>, file: z.output<File> | undefined): Settings | undefined
  readonly mapping: CrmMapping
  /** Returns the address of a record's page in the CRM, undefined where too little is known to name it. */
  recordUrl(settings: Settings, place: RecordPlace): string | undefined
  /** Throws ConfigError when the mapping names what there is not. Loads the client. */
  open(settings: Settings, options: OpenOptions): Promise<Connector>
}

/** Checks a CRM's definition and infers its types. */
export function defineCrm<
  const Variables extends z.ZodRawShape,
  File extends z.ZodType,
  Settings extends CrmSettings,
>(
  definition: Omit<CrmDefinition<Variables, File, Settings>, 'kind'>,
): CrmDefinition<Variables, File, Settings> {
  return { kind: 'crm', ...definition }
}

/** Checks the definition of a kind of file and infers its types. */
export function defineFile<File extends z.ZodType>(
  definition: Omit<FileDefinition<File>, 'kind'>,
): FileDefinition<File> {
  return { kind: 'file', ...definition }
}
