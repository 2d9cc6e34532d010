import type { Connector } from '../../../connectors/connector.ts'
import { ConfigError } from '../../../domain/errors.ts'
import {
  distinctReferences,
  type DistinctReferences,
  type GivenReference,
} from '../../../domain/lists/references.ts'
import type { ObjectKind } from '../../../domain/words.ts'
import type { Config } from '../../config/config.ts'
import type { LikeSettings } from '../../config/list-sources.ts'
import { crmReferences } from './crm-references.ts'
import { fileReferences, namedReferences } from './given-references.ts'

export interface ReferenceSource {
  list: string
  /** The kind of the references, which is that of the search. */
  object: ObjectKind
  like: LikeSettings
}

/**
 * Reads the references of a list: out of a CRM, a file, or the settings. Pays nothing. Throws ConfigError where none is found, because
 * such a list would be empty for a reason that nobody sees.
 */
export async function readReferences(
  config: Pick<Config, 'networkName' | 'networkHosts' | 'csvSynonyms'>,
  { list, object, like }: ReferenceSource,
  options: { open: (connector: string) => Promise<Connector>; signal: AbortSignal },
): Promise<DistinctReferences> {
  const place = `lists.${list}.like`
  const found = distinctReferences(object, await givenOf(config, { list, object, like }, options), {
    hosts: config.networkHosts,
  })
  if (found.references.length > 0) return found
  const [first, ...others] = found.skipped
  throw new ConfigError(
    'no_references',
    first === undefined
      ? `${place}: no reference was found: ${like.connector === undefined ? 'the file has no rows' : 'no record meets the filter'}`
      : `${place}: no reference can be asked for: ${first.place}: ${first.reason}${others.length > 0 ? `; and ${others.length} more` : ''}`,
  )
}

async function givenOf(
  config: Pick<Config, 'networkName' | 'networkHosts' | 'csvSynonyms'>,
  { list, object, like }: ReferenceSource,
  { open, signal }: { open: (connector: string) => Promise<Connector>; signal: AbortSignal },
): Promise<GivenReference[]> {
  if (like.csv !== undefined) return fileReferences(config, object, like.csv)
  if (like.connector === undefined) return namedReferences(object, like)
  const connector = await open(like.connector)
  try {
    return await crmReferences(connector, object, like, { place: `lists.${list}.like`, signal })
  } finally {
    await connector.close()
  }
}
