import type { Meter } from '../domain/ports/meter.ts'
import type { Connector } from './connector.ts'
import type { RecordMaker } from './creating.ts'
import type { NoteWriter } from './noting.ts'

/**
 * Returns the connector with its calls measured. A call is a question of ours: a page of a scan, a batch read or written. It
 * may take several requests, and waits for the CRM's limits are part of it. A call that fails counts as well.
 */
export function metered(connector: Connector, meter: Pick<Meter, 'crmCall'>): Connector {
  async function timed<T>(call: string, work: () => Promise<T>): Promise<T> {
    const startedMs = performance.now()
    try {
      return await work()
    } finally {
      meter.crmCall(connector.name, call, performance.now() - startedMs)
    }
  }

  return {
    ...connector,
    check: (entities) => timed('check', () => connector.check(entities)),
    describe: (entity) => timed('describe', () => connector.describe(entity)),
    ensureFields: (entity, options) => timed('ensure_fields', () => connector.ensureFields(entity, options)),
    async *scan(entity, options) {
      const pages = connector.scan(entity, options)[Symbol.asyncIterator]()
      try {
        for (;;) {
          const page = await timed('scan', () => pages.next())
          if (page.done) return
          yield page.value
        }
      } finally {
        // The reader may leave before the last page.
        await pages.return?.()
      }
    },
    read: (entity, ids) => timed('read', () => connector.read(entity, ids)),
    write: (entity, patches) => timed('write', () => connector.write(entity, patches)),
    associations: (entity, toEntity, ids) =>
      timed('associations', () => connector.associations(entity, toEntity, ids)),
    ...(connector.people && {
      people: (entity: string, ids: readonly string[]) =>
        timed('people', () => connector.people!(entity, ids)),
    }),
    ...(connector.maker && { maker: meteredMaker(connector.maker, timed) }),
    ...(connector.notes && { notes: meteredNotes(connector.notes, timed) }),
    quota: () => timed('quota', () => connector.quota()),
  }
}

function meteredMaker(
  maker: RecordMaker,
  timed: <T>(call: string, work: () => Promise<T>) => Promise<T>,
): RecordMaker {
  return {
    ...maker,
    find: (entity, identities) => timed('find', () => maker.find(entity, identities)),
    create: (entity, drafts) => timed('create', () => maker.create(entity, drafts)),
    archive: (entity, ids) => timed('archive', () => maker.archive(entity, ids)),
    associate: (entity, toEntity, pairs) =>
      timed('associate', () => maker.associate(entity, toEntity, pairs)),
    snapshots: (entity, ids) => timed('snapshots', () => maker.snapshots(entity, ids)),
  }
}

function meteredNotes(
  notes: NoteWriter,
  timed: <T>(call: string, work: () => Promise<T>) => Promise<T>,
): NoteWriter {
  return {
    ...notes,
    findByMarker: (entity, wanted) => timed('find_notes', () => notes.findByMarker(entity, wanted)),
    write: (entity, drafts) => timed('write_notes', () => notes.write(entity, drafts)),
    snapshots: (entity, written) => timed('note_snapshots', () => notes.snapshots(entity, written)),
    remove: (entity, written) => timed('remove_notes', () => notes.remove(entity, written)),
  }
}
