import type { Connector } from '../../connectors/connector.ts'
import { ConfigError } from '../../domain/errors.ts'
import { identifiersOfSubject } from '../../domain/lists/list-row.ts'
import { nearNames } from '../../domain/normalise/near-names.ts'
import { furtherIdentifiers, type Identity } from '../../domain/record.ts'
import { holdAccounts, type GivenAccount, type SignalAccount } from '../../store/signals/accounts.ts'
import type { PipelineSettings } from '../config/watching/signals.ts'
import type { Config } from '../config/config.ts'
import { openConnector } from '../context/connectors.ts'
import type { Context } from '../context/context.ts'
import { finishedRows } from '../lists/pages/finished-rows.ts'
import { listCalls } from '../lists/pages/list-calls.ts'
import { readRecords } from '../records/read-records.ts'

/** The accounts of a pipeline, and those that are left out, with the reason. */
export interface PipelineAccounts {
  accounts: SignalAccount[]
  skipped: { place: string; reason: string }[]
  suppressed: number
}

export interface ReadAccountsOptions {
  signal: AbortSignal
  onAccounts?: ((read: number) => void) | undefined
}

/** Returns the settings of a pipeline. Throws ConfigError with the near names. */
export function pipelineNamed({ signals }: Pick<Config, 'signals'>, name: string): PipelineSettings {
  const found = Object.hasOwn(signals, name) ? signals[name] : undefined
  if (found) return found
  const known = Object.keys(signals)
  const near = nearNames(name, known)
  throw new ConfigError(
    'no_pipeline',
    known.length === 0
      ? 'nothing is watched: name a pipeline under signals in paydirt.config.ts (docs/signals.md)'
      : `signals has no ${name}; ${near.length > 0 ? `near: ${near.join(', ')}` : `there are ${known.join(', ')}`}`,
  )
}

/**
 * Reads the accounts of a pipeline, and keeps them in the ledger. Pays nothing, and writes nothing into the CRM. Throws ConfigError where
 * there are none: a watch that watches nobody without saying so would be worse than none.
 */
export async function readAccounts(
  context: Context,
  place: string,
  { accounts: source }: Pick<PipelineSettings, 'accounts'>,
  options: ReadAccountsOptions,
): Promise<PipelineAccounts> {
  const given =
    'list' in source ? await ofList(context, source) : await ofCrm(context, place, source, options)
  const known: GivenAccount[] = []
  const skipped: PipelineAccounts['skipped'] = []
  for (const { reason, ...account } of given) {
    const record = `${account.connector}:${account.entity}:${account.recordId}`
    if (reason !== undefined) skipped.push({ place: record, reason })
    else if (isNamed(account.identity)) known.push(account)
    else skipped.push({ place: record, reason: 'it has no profile URL, domain or other identifier' })
  }
  if (given.length === 0)
    throw new ConfigError(
      'no_accounts',
      `${place}: ${'list' in source ? `the list ${source.list} has no fetch that has ended; \`paydirt lists fetch ${source.list}\` buys it` : 'no record meets the filter'}`,
    )
  const subjects = known.map(({ identity }) => identifiersOfSubject('company', identity))
  const suppressed = await context.suppressions.match(subjects)
  const watched = known.filter((_, at) => !suppressed.has(at))
  return {
    accounts: await holdAccounts(context.database.db, watched, context.now()),
    skipped,
    suppressed: suppressed.size,
  }
}

type ReadAccount = GivenAccount & { reason?: string }

async function ofList(
  context: Context,
  { list, limit = Infinity }: { list: string; limit?: number | undefined },
): Promise<ReadAccount[]> {
  const accounts: ReadAccount[] = []
  for await (const { rowKey, identity, values } of finishedRows(
    context,
    await listCalls(context, list, { asks: false }),
  )) {
    if (accounts.length >= limit) break
    const name = values['company_name']
    accounts.push({
      connector: 'list',
      entity: list,
      recordId: rowKey,
      name: typeof name === 'string' ? name : null,
      identity,
    })
  }
  return accounts
}

async function ofCrm(
  context: Context,
  place: string,
  source: Extract<PipelineSettings['accounts'], { connector: string }>,
  { signal, onAccounts }: ReadAccountsOptions,
): Promise<ReadAccount[]> {
  const engine = { recordIndex: context.recordIndex }
  const connector = await openConnector(context.config, source.connector, engine)
  try {
    const entity = companyEntity(connector, source.entity, place)
    const { filter, limit } = source
    const records = await readRecords(connector, {
      entity,
      filter,
      limit,
      place,
      signal,
      onRecords: onAccounts,
    })
    return records.map(({ id, identity, values, unreadable }) => {
      const title = values?.['company_name'] ?? identity.company
      return {
        connector: connector.name,
        entity,
        recordId: id,
        name: typeof title === 'string' ? title : null,
        identity,
        ...(unreadable !== undefined && { reason: unreadable }),
      }
    })
  } finally {
    await connector.close()
  }
}

/** Returns the CRM's name of companies. Throws ConfigError for an object that is none. */
export function companyEntity(
  { name, entities }: Pick<Connector, 'name' | 'entities'>,
  asked: string | undefined,
  place: string,
): string {
  const fitting = Object.keys(entities).filter((entity) => entities[entity] === 'company')
  const found = asked === undefined ? fitting[0] : fitting.find((entity) => entity === asked)
  if (found !== undefined) return found
  throw new ConfigError(
    'unknown_entity',
    `${place}.entity: ${name} has no companies called ${asked}; there is ${fitting.join(', ')}`,
  )
}

function isNamed(identity: Identity): boolean {
  const { profileUrl, domain } = identity
  return [profileUrl, domain, ...furtherIdentifiers.map(({ field }) => identity[field])].some(
    (value) => value !== undefined && value.trim() !== '',
  )
}
