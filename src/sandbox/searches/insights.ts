import { isRefused } from '../http/request-body.ts'
import type { StatsEndpoint } from '../stats.ts'
import { reachTiers, runsOn, type Advertisement } from '../world/advertisements.ts'
import { chance } from '../world/chance.ts'
import { dateOf } from '../world/clock.ts'
import type { Footprint } from '../world/clouds.ts'
import type { WorldCompany } from '../world/companies.ts'
import type { Job } from '../world/jobs.ts'
import { locationId } from '../world/markets.ts'
import type { NewsItem } from '../world/news.ts'
import type { World, WorldDay } from '../world/world.ts'
import { impressionsOf } from './advertisements.ts'
import { newsSourceOf, newsTopicsOf } from './news.ts'
import { readCompany, readEndpoint, referenceParameters } from './read-endpoint.ts'

/** The figures of one company, counted from the rows that its searches find. */
export const hiringInsights = (world: World) =>
  insights('jobs_insights', world, (today, company) => hiring(today.jobs.of(company)))
export const newsInsights = (world: World) =>
  insights('news_insights', world, (today, company) => news(today.news.of(company)))
export const advertisementInsights = (world: World) =>
  insights('advertisements_insights', world, (today, company) =>
    advertising(today.advertisements.of(company), today.day),
  )
export const cloudInsights = (world: World) =>
  insights('clouds_insights', world, (today, company) => cloud(today.footprints.of(company)))

function insights(
  name: StatsEndpoint,
  world: World,
  count: (today: WorldDay, company: WorldCompany) => object,
) {
  return readEndpoint(
    {
      name,
      price: 'insights',
      parameters: referenceParameters,
      read(body, { today }, ask) {
        const company = readCompany(body, ask)
        if (company === null) return { data: null }
        if (isRefused(company)) return company
        const { id, domain, name: companyName } = company
        const figures = count(today(), company)
        return { data: { domain_search_id: id, domain, company_name: companyName, ...figures } }
      },
    },
    world,
  )
}

function hiring(jobs: readonly Job[]) {
  return {
    totals: {
      jobs: jobs.length,
      open_jobs: jobs.filter(({ closedDay }) => closedDay === null).length,
      functions: distinct(jobs, (job) => job.function),
      locations: distinct(jobs, (job) => locationId(job.country, job.city)),
    },
    function_breakdown: breakdown(jobs, (job) => job.function, 'function', 'jobs'),
    seniority_breakdown: breakdown(jobs, (job) => job.rank, 'seniority_rank', 'jobs'),
    market_breakdown: breakdown(jobs, (job) => job.country, 'market', 'jobs'),
    monthly: breakdown(jobs, (job) => dateOf(job.day).slice(0, 7), 'month', 'jobs'),
  }
}

/** `topics` and `sources` are counts of distinct values. */
function news(items: readonly NewsItem[]) {
  const sources = breakdown(items, newsSourceOf, 'source', 'mentions')
  return {
    totals: {
      mentions: items.length,
      topics: new Set(items.flatMap(newsTopicsOf)).size,
      sources: sources.length,
      top_source: sources[0]?.['source'] ?? null,
    },
    category_breakdown: breakdown(items, (item) => item.category, 'category', 'mentions'),
    market_breakdown: breakdown(items, (item) => item.country, 'market', 'mentions'),
  }
}

/** The keys of a posting are short: reach tier, month, channel, format and number. */
function advertising(rows: readonly Advertisement[], today: number) {
  const groups = Map.groupBy(rows, (row) =>
    [row.tier.slug, dateOf(row.day).slice(0, 7), row.source, row.format].join(' '),
  )
  return {
    totals: {
      advertisements: rows.length,
      active_advertisements: rows.filter((each) => runsOn(each, today)).length,
      markets: distinct(rows, ({ country }) => country),
    },
    postings: [...groups].map(([key, group]) => {
      const [r, m, ch, fo] = key.split(' ')
      return { r, m, ch, fo, n: group.length }
    }),
    reach_tiers: reachTiers.map(({ slug, label }) => ({ slug, label })),
    creatives: rows.slice(0, 10).map((row) => ({
      advertisement_search_id: row.id,
      title: `${row.company.name}: better by design`,
      image_url: row.format === 'text' ? null : `https://media.profnet.example/ad/${row.id}.jpg`,
      cta: chance(row.company.index, 521, row.seed) < 0.5 ? 'Learn more' : 'Sign up',
      has_video: row.format === 'video',
      format: row.format,
      channel: row.source,
      market: row.country,
      total_impressions: impressionsOf(row),
      active_from: dateOf(row.day),
    })),
  }
}

function cloud(rows: readonly Footprint[]) {
  return {
    totals: {
      footprints: rows.length,
      providers: distinct(rows, ({ provider }) => provider),
      regions: distinct(rows, ({ region }) => region),
      markets: distinct(rows, ({ country }) => country),
    },
    provider_breakdown: breakdown(rows, ({ provider }) => provider, 'provider', 'footprints'),
    market_breakdown: breakdown(rows, ({ country }) => country, 'market', 'footprints'),
  }
}

function distinct<T>(rows: readonly T[], valueOf: (row: T) => string): number {
  return new Set(rows.map(valueOf)).size
}

/** Returns how many rows each value has, the most first. */
function breakdown<T>(rows: readonly T[], valueOf: (row: T) => string, name: string, count: string) {
  return [...Map.groupBy(rows, valueOf)]
    .sort(([a, first], [b, second]) => second.length - first.length || (a < b ? -1 : 1))
    .map(([value, group]): Record<string, string | number> => ({ [name]: value, [count]: group.length }))
}
