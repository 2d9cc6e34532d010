import { afterEach, beforeEach } from 'vitest'
import type { Connector, ScanOptions, ScanPage, WriteResult } from '../../src/connectors/connector.ts'
import type { ConnectorName } from '../../src/connectors/definitions.ts'
import type { FieldType } from '../../src/domain/mapping/mapping.ts'
import type { FieldValue, Patch } from '../../src/domain/record.ts'
import type { MakingOptions, MakingWorld } from './connector-making.ts'
import type { NotingOptions, NotingWorld } from './connector-noting.ts'

/** One connector with records behind it. Every test opens its own. */
export interface ConnectorWorld {
  connector: Connector
  /** Every record that a scan must return: more than two pages of them. */
  ids: string[]
  /** The records past the connector, under the CRM's own names. Present where the source keeps values. */
  store?: {
    /** Returns the value of `field` (canonical) as it is stored, undefined for a blank of any kind. */
    value(id: string, field: string): string | undefined
    /** Returns all values of the record without its blanks. */
    all(id: string): Record<string, unknown>
    /** A person edits the record. */
    edit(id: string, field: string, value: string): void
    /** Makes the field blank in one of the ways in which the CRM may store a blank. */
    blank(id: string, field: string, how: 'null' | 'empty' | 'missing'): void
  }
  remove?(id: string): void
  /** Returns the id of the record that is left: the winner's, or a new one. */
  merge?(winner: string, loser: string): string
  /** Present where the connector makes records. */
  making?: MakingWorld
  /** Present where the connector takes notes. */
  noting?: NotingWorld
  /** Moves the clock of connector and source on. */
  passTime?(ms: number): void
  /** A lead becomes a contact. */
  convert?(id: string): void
  stop(): Promise<void>
}

export interface ConnectorSuiteOptions {
  /** The name in the registry. The suite's demands on the connector follow from the capabilities of its definition. */
  connector: ConnectorName
  entity: string
  open(): Promise<ConnectorWorld>
  /** A canonical text field that is mapped and may be cleared. Must not identify the record. */
  textField: string
  /** The ways in which the source stores a blank. Empty for one that keeps no values. */
  blanks: readonly ('null' | 'empty' | 'missing')[]
  /** A patch that the CRM refuses when it gets it, and only then, with the code and field that name the refusal. */
  refused?: { patch: Patch; code: string; field: string }
  /** A value that does not fit its field: it is left out and the rest written. Alone, it is rejected. */
  unfit?: { field: string; value: string | number; code: string }
  /** Values of fields that are observed over time, with the types of their places in the source. */
  observed?: Readonly<Record<string, { set: FieldValue; type: FieldType }>> | undefined
  /** The number of our own fields that the source lacks at first. */
  ownFields: number
  /** The things that may happen to a record in the source. */
  can: readonly ('remove' | 'merge' | 'convert')[]
  /** A well-formed id that no record has; absent where every id is accepted. */
  unknownId?: string
  /** The source's name of the property that holds a record's id, where a scan can be narrowed to it. */
  idProperty?: string
  /** Present where the connector makes records. */
  making?: MakingOptions
  /** Present where the connector takes notes. */
  noting?: NotingOptions
}

export type ConnectorStage = ReturnType<typeof openStage>

/** Opens a world of its own for every test of the group in which it is called. */
export function openStage(options: ConnectorSuiteOptions) {
  let world: ConnectorWorld
  beforeEach(async () => {
    world = await options.open()
  })
  afterEach(async () => {
    await world.connector.close()
    await world.stop()
  })
  return {
    get world() {
      return world
    },
    store: (): NonNullable<ConnectorWorld['store']> => world.store!,
    write: (patches: [id: string, patch: Patch][]): Promise<WriteResult[]> =>
      world.connector.write(
        options.entity,
        patches.map(([id, patch]) => ({ id, patch })),
      ),
    async scan(begin: ScanOptions = {}): Promise<ScanPage[]> {
      const pages: ScanPage[] = []
      for await (const page of world.connector.scan(options.entity, begin)) pages.push(page)
      return pages
    },
    passTime: (ms: number): void => world.passTime!(ms),
    text: (value: string): Patch => ({ [options.textField]: { set: value } }),
  }
}

/** Returns one case where the source has the feature, none where it has not. */
export function where(can: boolean): readonly true[] {
  return can ? [true] : []
}

export function given<T>(value: T | undefined): readonly T[] {
  return value === undefined ? [] : [value]
}

/** Returns the values of a record without its blanks. */
export function filled(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== '' && value !== null))
}
