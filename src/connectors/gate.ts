import type { CurrentRecord } from '../domain/field-policy/current-record.ts'
import type { SourceRecord } from '../domain/record.ts'
import { identityFault, valuesFault } from '../domain/values/gate.ts'
import type { Connector } from './connector.ts'

/**
 * Returns the connector behind the gate for values from outside. A record with a value that is too long, is no well-formed
 * text or has control characters is unreadable: a scan returns it without its identity, and a read without its values. Such
 * a value could neither be stored in the ledger nor looked up, and would stop the records beside it. A public web form can
 * put one into a CRM.
 */
export function gated(connector: Connector): Connector {
  const { maker } = connector
  return {
    ...connector,
    ...(maker && {
      maker: {
        ...maker,
        find: async (entity: string, identities: Parameters<typeof maker.find>[1]) =>
          (await maker.find(entity, identities)).map(admitRecord),
      },
    }),
    async *scan(entity, options) {
      for await (const page of connector.scan(entity, options))
        yield { ...page, records: page.records.map(admitRecord) }
    },
    async read(entity, ids) {
      const admitted = new Map<string, CurrentRecord>()
      for (const [id, record] of await connector.read(entity, ids)) admitted.set(id, admitCurrent(record))
      return admitted
    },
  }
}

function admitRecord(record: SourceRecord): SourceRecord {
  const { values = {}, ...rest } = record
  const fault = identityFault(record.identity) ?? valuesFault(values)
  return fault === undefined ? record : { ...rest, identity: {}, unreadable: record.unreadable ?? fault }
}

function admitCurrent(record: CurrentRecord): CurrentRecord {
  if (record.state !== 'present') return record
  const { identity = {}, values, raw = {}, own = {} } = record
  const reason = identityFault(identity) ?? valuesFault(values) ?? valuesFault(raw) ?? valuesFault(own)
  return reason === undefined ? record : { state: 'unreadable', reason }
}
