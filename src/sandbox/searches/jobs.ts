import { entriesOf } from '../data/match-words.ts'
import { chance, at } from '../world/chance.ts'
import { dateOf, momentOf } from '../world/clock.ts'
import { employmentTypes, jobFunctions, jobSources, seniorityRanks, type Job } from '../world/jobs.ts'
import { locationId, placeTest } from '../world/markets.ts'
import type { World } from '../world/world.ts'
import { companyFilters, rowsOf, sifted } from './narrow.ts'
import { inRange } from './read-filters.ts'
import { searchEndpoint } from './search-endpoint.ts'

/** `POST /jobs/search`. */
export const jobSearch = (world: World) =>
  searchEndpoint(
    {
      name: 'jobs_search',
      price: 'jobSearch',
      rows: 'jobs',
      filters: {
        ...companyFilters,
        functions: 'texts',
        seniority_ranks: 'texts',
        launch_dates: 'range',
        created_at: 'range',
        location_ids: 'ids',
        job_exclude_locations: 'texts',
        is_ascending_order: 'flag',
      },
      find(filters, { today }) {
        const functions = filters.functions && entriesOf(jobFunctions, filters.functions)
        const ranks = filters.seniority_ranks && entriesOf(seniorityRanks, filters.seniority_ranks)
        // A value that the catalog lacks ends the search at once.
        if (functions?.size === 0 || ranks?.size === 0) return { rows: [] }
        const ids = filters.location_ids && new Set(filters.location_ids.map((id) => id.toLowerCase()))
        const excluded = filters.job_exclude_locations && placeTest(filters.job_exclude_locations)
        const { launch_dates: launched, created_at: created } = filters
        const rows = sifted(
          rowsOf(today().jobs, filters),
          (job) =>
            (functions === undefined || functions.has(job.function)) &&
            (ranks === undefined || ranks.has(job.rank)) &&
            (ids === undefined ||
              ids.has(locationId(job.country)) ||
              ids.has(locationId(job.country, job.city))) &&
            !excluded?.(job.country, job.city) &&
            (launched === undefined || inRange(launched, job.day)) &&
            (created === undefined || inRange(created, job.day)),
          filters.is_ascending_order,
        )
        return { rows }
      },
      show: (job) => jobRow(job),
    },
    world,
  )

/** Returns a job as searches and enrichments show it. */
export function jobRow(job: Job) {
  const { company, seed } = job
  const draw = (salt: number) => chance(company.index, salt, seed)
  const pay = Math.round(25 + draw(311) * 150) * 1000
  return {
    job_search_id: job.id,
    domain_search_id: company.id,
    domain: company.domain,
    company_name: company.name,
    title: `${job.rank} ${job.function}`,
    functions: [job.function],
    seniority_rank: job.rank,
    source_type: at(jobSources, draw(312)),
    location: job.city,
    location_id: locationId(job.country, job.city),
    country_code: job.country,
    employment_type: job.rank === 'Intern' ? 'Internship' : at(employmentTypes.slice(0, 3), draw(313)),
    base_salary:
      draw(314) < 0.4 ? { min: pay, max: Math.round(pay * 1.25), currency: 'USD', period: 'year' } : null,
    experience_requirement: draw(315) < 0.6 ? `${1 + Math.floor(draw(316) * 8)} years` : null,
    education_requirement:
      draw(317) < 0.5 ? at(['Bachelor', 'Master', 'Vocational training'], draw(318)) : null,
    launch_date: dateOf(job.day),
    closed_at: job.closedDay === null ? null : dateOf(job.closedDay),
    created_at: momentOf(job.day, draw(319)),
  }
}
