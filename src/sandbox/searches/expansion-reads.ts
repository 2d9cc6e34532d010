import { isRefused, malformed, missing, type BadRequest } from '../http/request-body.ts'
import type { Prices } from '../prices.ts'
import type { StatsEndpoint } from '../stats.ts'
import { chance } from '../world/chance.ts'
import { companyOfDomain, domainOfId, type WorldCompany } from '../world/companies.ts'
import { marketOf, markets } from '../world/markets.ts'
import type { Move } from '../world/moves.ts'
import { stages } from '../world/position.ts'
import type { World } from '../world/world.ts'
import { expansionFilters, findMoves } from './expansion-filters.ts'
import { expansionRow, signalRow } from './expansion-rows.ts'
import { readCompany, readEndpoint, referenceParameters } from './read-endpoint.ts'

// The meaning of these is not shown, only that they are errors of expansions.
const WRONG_COUNT = 40435
const UNKNOWN_ID = 40436

const metadataSwitch = { is_include_metadata: 'flag' } as const

/** `POST /expansions/detail`: every expansion of one company, with its signals. */
export const expansionDetail = (world: World) =>
  ofOneCompany('expansions_detail', 'expansionDetail', world, (company, moves, withModel) => ({
    domain_search_id: company.id,
    domain: company.domain,
    company_name: company.name,
    country_code: company.place.country,
    expansions: moves.map((move) => ({
      ...expansionRow(move),
      signals: move.signals.map((signal) => signalRow(move, signal)).reverse(),
      ...(withModel && model(move)),
    })),
  }))

/** `POST /expansions/summary`: the same in a few sentences. The faults decide whether it is ready in time. */
export const expansionSummary = (world: World) => {
  const endpoint = ofOneCompany(
    'expansions_summary',
    'expansionSummary',
    world,
    (company, moves, withModel) => ({
      domain_search_id: company.id,
      domain: company.domain,
      company_name: company.name,
      summary: summaryOf(company, moves),
      markets: moves.map(({ to, level }) => ({ market: to, stage: stages[level] })),
      ...(withModel && { model: moves.map(model) }),
    }),
  )
  return {
    ...endpoint,
    answer: async (ask: Parameters<typeof endpoint.answer>[0]) => {
      const answered = await endpoint.answer(ask)
      if ('refused' in answered || !ask.faults.strikes('summaryTimeout', String(ask.text))) return answered
      const message = 'The summary was not completed in time'
      return { refused: { code: 40360, message, details: {} }, status: 408 as const }
    },
  }
}

/** `POST /expansions/compare`: two to ten companies beside each other. */
export const expansionCompare = (world: World) =>
  readEndpoint(
    {
      name: 'expansions_compare',
      price: 'expansionCompare',
      parameters: { domain_search_ids: 'texts', ...metadataSwitch },
      read({ domain_search_ids: ids, is_include_metadata: withModel }, { today }) {
        const companies = readCompanies(ids, 2, 10)
        if (isRefused(companies)) return companies as BadRequest
        const compared = (companies as WorldCompany[]).map((company) => ({
          company,
          moves: today().moves.of(company),
        }))
        const [first, ...others] = compared.map(({ moves }) => moves.map(({ to }) => to))
        return {
          data: {
            companies: compared.map(({ company, moves }) => ({
              domain_search_id: company.id,
              domain: company.domain,
              company_name: company.name,
              expansion_count: moves.length,
              expansions: moves.map((move) => ({
                ...expansionRow(move),
                ...(withModel === true && model(move)),
              })),
            })),
            common_markets: first!.filter((market) => others.every((list) => list.includes(market))),
          },
        }
      },
    },
    world,
  )

/** `POST /expansions/rankings`: the companies named, or those that the filters find, the furthest first. */
export const expansionRankings = (world: World) =>
  readEndpoint(
    {
      name: 'expansions_rankings',
      price: 'expansionRankings',
      parameters: { ...expansionFilters, ...metadataSwitch },
      read({ is_include_metadata: withModel, ...filters }, { today }) {
        if (Object.keys(filters).length === 0) return missing('domain_search_ids')
        if (filters.domain_search_ids !== undefined) {
          const companies = readCompanies(filters.domain_search_ids, 1, 100)
          if (isRefused(companies)) return companies as BadRequest
        }
        const byCompany = Map.groupBy(findMoves(today(), filters), ({ company }) => company)
        const rankings = [...byCompany]
          .map(([company, moves]) => ({ company, moves, score: scoreOf(moves) }))
          .sort((a, b) => b.score - a.score || a.company.index - b.company.index)
          .slice(0, 100)
        return {
          data: {
            rankings: rankings.map(({ company, moves, score }, at) => ({
              rank: at + 1,
              domain_search_id: company.id,
              domain: company.domain,
              company_name: company.name,
              score,
              expansion_count: moves.length,
              top_market: moves.reduce((best, move) => (move.relevance > best.relevance ? move : best)).to,
              ...(withModel === true && { model: moves.map(model) }),
            })),
          },
        }
      },
    },
    world,
  )

function ofOneCompany(
  name: StatsEndpoint,
  price: keyof Prices,
  world: World,
  write: (company: WorldCompany, moves: readonly Move[], withModel: boolean) => object,
) {
  return readEndpoint(
    {
      name,
      price,
      parameters: { ...referenceParameters, ...metadataSwitch },
      read({ is_include_metadata: withModel, ...body }, { today }, ask) {
        const company = readCompany(body, ask)
        if (company === null) return { data: null }
        if (isRefused(company)) return company
        return { data: write(company, today().moves.of(company), withModel === true) }
      },
    },
    world,
  )
}

function readCompanies(
  ids: readonly string[] | undefined,
  least: number,
  most: number,
): WorldCompany[] | BadRequest {
  if (ids === undefined) return missing('domain_search_ids')
  const distinct = [...new Set(ids)]
  if (distinct.length < least || distinct.length > most) {
    const message = `domain_search_ids must hold ${least} to ${most} different ids`
    return { ...malformed(message, 'domain_search_ids'), code: WRONG_COUNT }
  }
  const companies = distinct.map((id) => companyOfDomain(domainOfId(id) ?? ''))
  const unknown = distinct.filter((_, at) => companies[at] === undefined)
  if (unknown.length === 0) return companies as WorldCompany[]
  const message = `domain_search_ids holds unknown ids: ${unknown.join(', ')}`
  return { ...malformed(message, 'domain_search_ids'), code: UNKNOWN_ID }
}

/** The detail that an answer has only where it was asked for. */
function model({ company, seed, signals, relevance }: Move) {
  return {
    confidence_score: Math.round(Math.min(0.99, 0.4 + relevance / 8000) * 100) / 100,
    model: {
      version: '2026-09',
      weights: Object.fromEntries(
        signals.map(({ id, step }) => [id, Math.round(chance(company.index, 231, seed, step) * 100) / 100]),
      ),
    },
  }
}

function scoreOf(moves: readonly Move[]): number {
  return moves.reduce((sum, { level, relevance }) => sum + (level + 1) * 10 + Math.floor(relevance / 1000), 0)
}

function summaryOf({ name }: WorldCompany, moves: readonly Move[]): string {
  if (moves.length === 0) return `${name} shows no expansion.`
  const parts = moves.map(
    ({ to, level, signals }) =>
      `${markets[marketOf(to)]!.name} (${stages[level]}, ${signals.length} signals)`,
  )
  return `${name} is in ${moves.length === 1 ? 'one new market' : `${moves.length} new markets`}: ${parts.join(', ')}.`
}
