import { at, chance } from '../world/chance.ts'
import { momentOf } from '../world/clock.ts'
import { marketOf, markets } from '../world/markets.ts'
import { newsSources, newsTopics, type NewsItem } from '../world/news.ts'
import type { World } from '../world/world.ts'
import { companyFilters, rowsOf, sifted } from './narrow.ts'
import { inRange } from './read-filters.ts'
import { searchEndpoint } from './search-endpoint.ts'

/** `POST /news/search`. */
export const newsSearch = (world: World) =>
  searchEndpoint(
    {
      name: 'news_search',
      price: 'newsSearch',
      rows: 'news',
      filters: {
        ...companyFilters,
        news_search_id: 'words',
        published_at: 'range',
        is_expansion_signal_available: 'flag',
        is_ascending_order: 'flag',
      },
      find(filters, { today }) {
        const ids = filters.news_search_id && new Set(filters.news_search_id)
        const { published_at: published } = filters
        const rows = sifted(
          rowsOf(today().news, filters),
          (item) =>
            (ids === undefined || ids.has(item.id)) &&
            (published === undefined || inRange(published, item.day)),
          filters.is_ascending_order,
        )
        return { rows }
      },
      show: (item, filters) => ({
        ...newsRow(item),
        ...(filters.is_expansion_signal_available === true && { expansion_signals: signalsOf(item) }),
      }),
    },
    world,
  )

/** Returns an item of the news as searches and enrichments show it. */
export function newsRow(item: NewsItem) {
  const { company, country, seed } = item
  const draw = (salt: number) => chance(company.index, salt, seed)
  const source = newsSourceOf(item)
  const verb = item.category === 'Restructuring' ? 'pulls back from' : 'grows in'
  return {
    news_search_id: item.id,
    domain_search_id: company.id,
    domain: company.domain,
    company_name: company.name,
    title: `${company.name} ${verb} ${markets[marketOf(country)]!.name}`,
    category: item.category,
    topics: newsTopicsOf(item),
    market: country,
    source,
    source_url: `https://${source === '経済新報' ? 'keizai' : source.toLowerCase().replaceAll(' ', '-')}.example/${item.id}`,
    published_at: momentOf(item.day, draw(411)),
  }
}

export function newsSourceOf({ company, seed }: NewsItem) {
  return at(newsSources, chance(company.index, 412, seed))
}

export function newsTopicsOf({ company, seed, signal }: NewsItem) {
  const other = at(newsTopics.slice(1), chance(company.index, 413, seed))
  return signal === null ? [other] : ['markets', other]
}

function signalsOf({ signal: found, company }: NewsItem) {
  if (found === null) return []
  const { move, signal } = found
  return [
    {
      signal_id: signal.id,
      expansion_id: move.id,
      domain_search_id: company.id,
      signal_type: signal.type,
      from: move.from,
      to: move.to,
      polarity: signal.polarity,
      signal_strength: signal.strength,
    },
  ]
}
