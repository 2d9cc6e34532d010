import { operationRow } from '../../domain/operations.ts'
import type { Operation, OperationKind } from '../../domain/words.ts'
import type { Catalogue, Contract, FamilyName } from '../../service/catalogue/catalogue.ts'
import { vocabularyOf, type VocabularyName } from '../../service/catalogue/vocabularies.ts'
import { operationsAt } from '../../service/catalogue/operations-at.ts'
import {
  nothingSeen,
  provenanceOf,
  type ClaimRow,
  type Sightings,
} from '../../service/catalogue/provenance.ts'
import { lastAnswers, observations } from '../../store/contract/answer-fields.ts'
import { knownWords, type LearnedWord } from '../../store/contract/learned-words.ts'
import { operationStates, type OperationState } from '../../store/contract/operation-states.ts'
import { renamesOf, type AcceptedRename } from '../../store/contract/accepted-renames.ts'
import { seenPrices, type SeenPrice } from '../../store/contract/seen-prices.ts'
import { lastReadAnswers, sentKeys } from '../../store/contract/sent-keys.ts'
import type { Database } from '../../store/database/database.ts'
import { knownWarnings } from '../../store/ledger/service-warnings.ts'
import type { Context } from '../context/context.ts'
import { withRenames } from '../../service/catalogue/with-renames.ts'

export interface LedgerAndCatalogue {
  database: Pick<Context['database'], 'db'>
  config: Pick<Context['config'], 'catalogue'>
}

/** One operation as it is known now. Plain data: it goes from process to process and into JSON. */
export interface DescribedOperation {
  operation: Operation
  family: FamilyName
  kind: OperationKind
  summary: string
  claims: ClaimRow[]
  /** `unasked`: no answer has confirmed it, and none has stopped it. */
  state: 'unasked' | 'confirmed' | 'stopped'
  /** Since when it is confirmed or stopped. */
  since: Date | null
  /** Its requests that are stopped, with the reason and what to do: '' for one record, a batch, the answer of a batch. */
  stops: { part: OperationState['part']; code: string | null; reason: string; since: Date }[]
  lastAnswerAt: Date | null
  /** The last prices, in millionths; `detail` is what the price depends on. */
  prices: Sightings['prices']
  renames: { field: string; wireName: string; acceptedAt: Date }[]
  /** The keys of its request that take words of a list alone, with those that the description shows or answers have held. */
  wordLists: { keys: string[]; vocabulary: VocabularyName; isClosed: boolean; words: string[] }[]
}

/**
 * Returns every operation with the source of each fact, by settings and by what answers of this account have shown. `seenToo` has
 * fields that were read from answers themselves, which then count alone.
 */
export async function describeOperations(
  { database, config }: LedgerAndCatalogue,
  {
    only,
    seenToo = () => [],
  }: { only?: Operation | undefined; seenToo?: (of: Operation) => Sightings['fields'] } = {},
): Promise<DescribedOperation[]> {
  const { db } = database
  const renames = await renamesOf(db)
  const catalogue = withRenames(config.catalogue, renames)
  const contracts = only === undefined ? catalogue.all() : [catalogue.of(only)]
  const [states, prices, answered, read, learned, sightings] = await Promise.all([
    operationStates(db),
    seenPrices(db),
    lastAnswers(db),
    lastReadAnswers(db),
    knownWords(db),
    keysAndNames(db, catalogue, contracts),
  ])
  const described: DescribedOperation[] = []
  for (const contract of contracts) {
    const { operation } = contract
    const readAt = read.get(operation)
    const state = stateOf(contract, states) ?? shownState(contract, readAt)
    const told = pricesOf(contract, catalogue, prices)
    const own = seenToo(operation)
    const seen: Sightings = {
      ...nothingSeen,
      ...sightings(operation),
      // Observations are dated by the time at which some of them were stored together: answers themselves tell the order.
      fields: own.length > 0 ? own : answered.has(operation) ? await observations(db, operation) : [],
      prices: told,
      state,
    }
    described.push({
      operation,
      family: contract.family,
      kind: operationRow(operation).kind,
      summary: contract.summary,
      claims: provenanceOf(contract, seen),
      state: state?.state ?? 'unasked',
      since: state?.since ?? null,
      stops: states.flatMap(({ part, state: is, code, reason, since, ...each }) =>
        each.operation === operation && is === 'stopped'
          ? [{ part, code, reason: reason ?? 'an answer could not be used', since }]
          : [],
      ),
      lastAnswerAt: readAt ?? answered.get(operation) ?? state?.confirmedAt ?? null,
      prices: told,
      renames: ownRenames(operation, renames),
      wordLists: wordListsOf(contract, learned),
    })
  }
  return described
}

/** The part that is stopped says more than another that is confirmed. A state of another address says nothing of this one. */
function stateOf(
  { operation, method, path }: Contract,
  states: readonly OperationState[],
): OperationState | undefined {
  const own = states.filter((each) => each.operation === operation && each.part === '')
  return own.find(
    ({ place }) => place === null || (place.startsWith(`${method.value} `) && place.endsWith(path.value)),
  )
}

/** No state is kept of an operation whose address the description shows: its answers in the ledger confirm it. */
function shownState({ path, setting }: Contract, readAt: Date | undefined): Sightings['state'] {
  const isOwn = setting.path !== undefined || setting.method !== undefined
  if (path.origin === 'assumed' || isOwn || readAt === undefined) return undefined
  return { state: 'confirmed', code: null, since: readAt, confirmedAt: readAt }
}

function pricesOf(
  contract: Contract,
  catalogue: Catalogue,
  prices: readonly SeenPrice[],
): Sightings['prices'] {
  return prices
    .filter(({ priceClass }) => operationsAt(catalogue, priceClass).includes(contract))
    .map(({ priceClass, currency, amountAtomic, seenAt }) => ({
      currency,
      amountAtomic,
      seenAt,
      detail: /\((.*)\)$/.exec(priceClass)?.[1] ?? '',
    }))
}

/** Only answers that are stored whole say which keys were ignored; of others the warnings do. */
async function keysAndNames(db: Database, catalogue: Catalogue, contracts: readonly Contract[]) {
  const whole = contracts.filter(({ operation }) => isKeptWhole(operation))
  const names = contracts.flatMap(({ operation, wireNames }) =>
    Object.entries(wireNames).map(([name, wireName]) => ({ operation, name, wireName })),
  )
  const keys = await sentKeys(
    db,
    whole.map(({ operation }) => operation),
    names,
  )
  const warnings = (await knownWarnings(db)).flatMap((warning) =>
    operationsAt(catalogue, warning.endpoint).map(({ operation }) => ({ ...warning, operation })),
  )
  return (of: Operation): Pick<Sightings, 'keys' | 'renamed'> => {
    const sent = keys.filter(({ operation }) => operation === of)
    const ignored = warnings.filter(
      ({ operation, kind, field }) =>
        operation === of && kind === 'ignored' && !sent.some(({ name }) => name === field),
    )
    return {
      keys: [
        ...sent,
        ...ignored.map(({ field: name, firstSeenAt }) => ({ name, takenAt: null, ignoredAt: firstSeenAt })),
      ],
      renamed: warnings
        .filter(({ operation, kind }) => operation === of && kind === 'renamed')
        .map(({ field: name, to, firstSeenAt: at }) => ({ name, to, at })),
    }
  }
}

function wordListsOf(
  { request }: Contract,
  learned: readonly LearnedWord[],
): DescribedOperation['wordLists'] {
  const listed = Object.entries(request).flatMap(([key, { vocabulary }]) =>
    vocabulary ? [{ key, vocabulary }] : [],
  )
  return [...new Set(listed.map(({ vocabulary }) => vocabulary))].map((vocabulary) => {
    const { kind, words } = vocabularyOf(vocabulary)
    const held = learned.flatMap((each) => (each.vocabulary === vocabulary ? [each.word] : []))
    return {
      vocabulary,
      keys: listed.filter((each) => each.vocabulary === vocabulary).map(({ key }) => key),
      isClosed: kind === 'closed',
      words: kind === 'closed' ? [...words] : [...new Set([...words, ...held])],
    }
  })
}

function ownRenames(of: Operation, renames: readonly AcceptedRename[]) {
  return renames.flatMap(({ operation, field, wireName, acceptedAt }) =>
    operation === of ? [{ field, wireName, acceptedAt }] : [],
  )
}

/** True for operations whose stored answer is the whole JSON. */
export function isKeptWhole(operation: Operation): boolean {
  const { kind } = operationRow(operation)
  return kind === 'search' || kind === 'read' || kind === 'action' || operation === 'person.lookup'
}
