import type { Move } from '../world/moves.ts'
import type { World, WorldDay } from '../world/world.ts'
import { expansionFilters, findMoves, loosened, type ExpansionFilters } from './expansion-filters.ts'
import { readQuery } from './expansion-query.ts'
import { expansionRow, explained, signalRow } from './expansion-rows.ts'
import { searchEndpoint } from './search-endpoint.ts'

/** `POST /expansions/search`: it understands a sentence, and gives up filters when nothing fits them all. */
export const expansionSearch = (world: World) =>
  searchEndpoint(
    {
      name: 'expansions_search',
      price: 'expansionSearch',
      rows: 'expansions',
      filters: {
        ...expansionFilters,
        query: 'text',
        is_explain_match: 'flag',
        sort_by: 'text',
      },
      find({ query, sort_by: sortBy, ...given }, { today }) {
        const read = query === undefined ? {} : readQuery(query)
        const { moves, given: kept, dropped } = loosen(today(), { ...read, ...given })
        return {
          rows: sorted(moves, sortBy).map((move) => ({ move, dropped, kept })),
          metadata: {
            ...(query !== undefined && { interpreted_filters: read }),
            ...(dropped.length > 0 && { loosened_filters: dropped }),
          },
        }
      },
      show: ({ move, dropped, kept }, { is_explain_match: explains }) => ({
        ...expansionRow(move),
        ...(dropped.length > 0 && { is_loosened_match: true }),
        ...(explains === true && { match_explanations: explained(move, kept) }),
      }),
    },
    world,
  )

/** `POST /expansions/lookup`: the same filters without a sentence, and never fewer than were given. */
export const expansionLookup = (world: World) =>
  searchEndpoint(
    {
      name: 'expansions_lookup',
      price: 'expansionLookup',
      rows: 'expansions',
      filters: { ...expansionFilters, is_explain_match: 'flag', sort_by: 'text' },
      find: ({ sort_by: sortBy, ...given }, { today }) => ({
        rows: sorted(findMoves(today(), given), sortBy),
      }),
      show: (move, { is_explain_match: explains, ...given }) => ({
        ...expansionRow(move),
        ...(explains === true && { match_explanations: explained(move, given) }),
      }),
    },
    world,
  )

/** `POST /expansions/signals/search`: the dated rows behind the stages. */
export const expansionSignals = (world: World) =>
  searchEndpoint(
    {
      name: 'expansions_signals',
      price: 'expansionSignals',
      rows: 'signals',
      filters: { ...expansionFilters, expansion_id: 'words', is_ascending_order: 'flag' },
      find({ expansion_id: asked, is_ascending_order: isAscending, ...given }, { today }) {
        const { signal_types: types, signal_strengths: strengths, ...ofMove } = given
        const ids = asked && new Set(asked)
        const isIn = (words: readonly string[] | undefined, word: string) =>
          words === undefined || words.some((each) => each.trim().toLowerCase() === word)
        const isNarrowed = ids !== undefined || Object.keys(ofMove).length > 0
        const found = isNarrowed ? findMoves(today(), ofMove) : []
        const moves = new Set(found.filter(({ id }) => ids === undefined || ids.has(id)))
        const rows = today().signals.all.filter(
          ({ move, signal }) =>
            (!isNarrowed || moves.has(move)) && isIn(types, signal.type) && isIn(strengths, signal.strength),
        )
        return { rows: isAscending === true ? rows.reverse() : rows }
      },
      show: ({ move, signal }) => signalRow(move, signal),
    },
    world,
  )

function loosen(today: WorldDay, filters: ExpansionFilters) {
  let given = filters
  const dropped: string[] = []
  let moves = findMoves(today, given)
  for (const name of loosened) {
    if (moves.length > 0) break
    if (given[name] === undefined) continue
    const { [name]: _, ...others } = given
    given = others
    dropped.push(name)
    moves = findMoves(today, given)
  }
  return { moves, given, dropped: moves.length > 0 ? dropped : [] }
}

/** The rows are the newest first already. By default, moves that several types of signal bear out come first. */
function sorted(moves: Move[], sortBy: string | undefined): Move[] {
  return sortBy === 'recent' ? moves : moves.sort((a, b) => b.relevance - a.relevance)
}
