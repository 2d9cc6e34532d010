import type { CrmMapping, DescribedField } from '../mapping/mapping.ts'

/** A source of records, as far as planning asks it which fields its records have. Connectors are such sources. */
export interface FieldSource {
  readonly name: string
  /** The connector whose field policies hold for its records. Default: the source itself. */
  readonly policiesOf?: string | undefined
  readonly capabilities: { readonly keepsValues: boolean }
  /** Absent for a source that has a place for every field. */
  readonly mapping?: CrmMapping | undefined
  describe(entity: string): Promise<DescribedField[]>
  ensureFields(
    entity: string,
    options: { dryRun: boolean; fields?: readonly string[] | undefined },
  ): Promise<{ name: string; status: string }[]>
}
