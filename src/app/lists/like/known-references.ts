import { createHash } from 'node:crypto'
import { ConfigError } from '../../../domain/errors.ts'
import { identityText } from '../../../domain/lists/judged-row.ts'
import type { DistinctReferences, Reference } from '../../../domain/lists/references.ts'
import type { RecordIdentity } from '../../../domain/subjects/record-identities.ts'
import { keepReferences, keptReferences } from '../../../store/lists/list-references.ts'
import type { ListSettings } from '../../config/lists.ts'
import { openConnector } from '../../context/connectors.ts'
import type { Context } from '../../context/context.ts'
import { readReferences } from './read-references.ts'

/** The best of a CRM are read again after this time. A fetch that goes on meanwhile keeps its questions. */
const keptMs = 86_400_000

/**
 * Returns the references of a list with `like`. Those of a file or the settings are read each time; those of a CRM were read before, or
 * are read now where `reads` allows it. Pays nothing. Throws ConfigError where none is found, or where nobody has read them yet.
 */
export async function knownReferences(
  context: Context,
  list: string,
  settings: ListSettings,
  { reads }: { reads: AbortSignal | undefined },
): Promise<DistinctReferences> {
  const found = await readOrKept(context, list, settings, { reads })
  return { ...found, references: await withRecords(context, settings, found.references) }
}

async function readOrKept(
  context: Context,
  list: string,
  settings: ListSettings,
  { reads }: { reads: AbortSignal | undefined },
): Promise<DistinctReferences> {
  const { config, database, now } = context
  const { like, search } = settings
  if (!like) return { references: [], repeated: 0, skipped: [] }
  const object = search.startsWith('people.') ? 'person' : 'company'
  const read = (signal: AbortSignal) =>
    readReferences(
      config,
      { list, object, like },
      { open: (connector) => openConnector(config, connector, context), signal },
    )
  if (like.connector === undefined) return read(reads ?? new AbortController().signal)
  const mapping = config.connectors[like.connector]?.mapping ?? null
  const rules = createHash('sha256')
    .update(JSON.stringify([search, like, mapping]))
    .digest('hex')
  const kept = await keptReferences(database.db, list)
  const isOfNow = kept?.rules === rules
  const isFresh = isOfNow && kept.readAt.getTime() > now().getTime() - keptMs
  if (isOfNow && (isFresh || !reads)) return { references: kept.references, repeated: 0, skipped: [] }
  if (!reads)
    throw new ConfigError(
      'references_unread',
      `lists.${list}.like: the references were not read out of ${like.connector} yet: \`paydirt lists preview ${list} --plan\` reads them, at no cost`,
    )
  const found = await read(reads)
  await keepReferences(database.db, list, { rules, readAt: now(), references: found.references })
  return found
}

/**
 * Returns the references with everything that identifies their records in the CRM of the list, so that a row which is such a record is left
 * out too, whatever it has in common with it.
 */
async function withRecords(
  { recordIndex }: Context,
  { into: { connector, entity } }: ListSettings,
  references: readonly Reference[],
): Promise<Reference[]> {
  const sure = references.flatMap((each) => surestOf(each))
  const found = (await recordIndex.find([connector], sure)).filter((each) => each.entity === entity)
  const idsOf = Map.groupBy(found, identityText)
  const ids = [...new Set(found.map(({ recordId }) => recordId))]
  const known = Map.groupBy(
    await recordIndex.identitiesOf(connector, entity, ids),
    ({ recordId }) => recordId,
  )
  return references.map((each) => {
    const records = new Set(
      surestOf(each).flatMap((one) => (idsOf.get(identityText(one)) ?? []).map(({ recordId }) => recordId)),
    )
    const more = [...records].flatMap((id) =>
      (known.get(id) ?? []).map(({ kind, value }): RecordIdentity => ({ kind, value })),
    )
    return { ...each, identities: [...each.identities, ...more.filter(({ kind }) => kind !== 'name')] }
  })
}

/** A domain tells the record only of a reference that nothing surer names. */
function surestOf({ identities }: Reference): RecordIdentity[] {
  const sure = identities.filter(
    ({ kind }) => kind === 'profile' || kind === 'service_id' || kind === 'email',
  )
  return sure.length > 0 ? sure : identities.filter(({ kind }) => kind === 'domain')
}
