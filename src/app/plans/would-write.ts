import type { Connector } from '../../connectors/connector.ts'
import type { LookupKey } from '../../domain/keys.ts'
import type { FieldValue, Identity, Patch } from '../../domain/record.ts'
import { refusalWords } from '../../domain/mapping/refusal-words.ts'
import type { ObjectKind } from '../../domain/words.ts'
import { decideTask } from '../../workers/write/decide-task.ts'
import { ruleOf } from '../config/policies.ts'
import type { Context } from '../context/context.ts'
import { createRecordForms } from '../context/record-form.ts'

/** The current and the new value of each field. */
export type Preview = Record<string, { from: FieldValue | null; to: FieldValue }>

/** The write that a run would make of what was found for a record. */
export interface WouldWrite {
  changes: Preview
  /** The end of a record into which nothing would be written; undefined where something is. */
  end: { status: 'unchanged' | 'skipped' | 'rejected'; reason: string } | undefined
  /** The values that do not fit their property, by field, in words. */
  leftOut: Record<string, string>
}

/**
 * Returns for each record what a run would write of the values found, by the decision of the write itself. Reads the records
 * as they are now, and changes nothing.
 */
export async function wouldWrite(
  { fieldWrites, config }: Pick<Context, 'fieldWrites' | 'config'>,
  connector: Connector,
  entity: string,
  found: readonly { recordId: string; identity: Identity; steps: readonly LookupKey[]; patch: Patch }[],
): Promise<WouldWrite[]> {
  if (found.length === 0) return []
  const ids = found.map(({ recordId }) => recordId)
  const current = await connector.read(entity, ids)
  const history = await fieldWrites.history(connector.name, entity, ids, [])
  const { keepsValues } = connector.capabilities
  const form = keepsValues ? await createRecordForms(config)(connector, entity) : undefined
  const rule = (field: string) => ruleOf(config.policies, connector.name, field)
  return found.map((each) => {
    const record = current.get(each.recordId)
    const { decision, standing } = decideTask(each, record, {
      object: connector.entities[entity] as ObjectKind,
      form,
      history,
      rule,
      hosts: config.networkHosts,
    })
    if (decision.kind === 'end')
      return { changes: {}, end: { status: decision.status, reason: decision.reason }, leftOut: {} }
    const values = record?.state === 'present' ? record.values : {}
    const fields = Object.keys(decision.patch)
    const misfits = form?.misfits(decision.patch) ?? {}
    const leftOut = Object.fromEntries(
      fields.flatMap((field) => {
        const code = misfits[field]
        return code === undefined ? [] : [[field, refusalWords(code)]]
      }),
    )
    const changes = Object.fromEntries(
      fields.flatMap((field) => {
        const change = decision.patch[field]
        const to = form ? standing[field] : change && 'set' in change ? change.set : undefined
        return to === undefined ? [] : [[field, { from: values[field] ?? null, to }]]
      }),
    )
    return { changes, end: endWithout(changes, leftOut), leftOut }
  })
}

/** The words are those with which such a record ends after the write. */
function endWithout(changes: Preview, leftOut: WouldWrite['leftOut']): WouldWrite['end'] {
  if (Object.keys(changes).length > 0) return undefined
  const named = Object.entries(leftOut).map(([field, words]) => `${field} (${words})`)
  return {
    status: 'unchanged',
    reason: named.length > 0 ? `left out ${named.join(', ')}` : 'the record has no field for what was found',
  }
}
