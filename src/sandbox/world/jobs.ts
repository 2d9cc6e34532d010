import { at, chance } from './chance.ts'
import type { WorldCompany } from './companies.ts'
import { markets, marketOf } from './markets.ts'
import type { Move } from './moves.ts'

// Not the real catalogs, which are not published: just enough of one to match against.
export const jobFunctions = [
  'Sales',
  'Business Development',
  'Marketing',
  'Engineering',
  'Information Technology',
  'Finance and Accounting',
  'Human Resources',
  'Purchasing and Procurement',
  'Customer Success and Support',
  'Operations',
] as const
export const seniorityRanks = ['Intern', 'Entry Level', 'Associate', 'Senior', 'Manager', 'Director'] as const
export const jobSources = ['profnet', 'job_board', 'company_website'] as const
export const employmentTypes = ['Full-time', 'Part-time', 'Contract', 'Internship'] as const

export interface Job {
  id: string
  company: WorldCompany
  country: string
  city: string
  function: (typeof jobFunctions)[number]
  rank: (typeof seniorityRanks)[number]
  /** The day on which it was opened. */
  day: number
  closedDay: number | null
  /** A number that distinguishes the jobs of a company, for `chance`. */
  seed: number
}

const PERIOD = 120
const SHOWN_DAYS = 180

/** Returns the jobs that are signals of a move, in the market that it leads to. */
export function jobsOfMove(move: Move, today: number): Job[] {
  return move.signals
    .filter(({ type }) => type === 'hiring')
    .map(({ day, step }) =>
      jobAt(move.company, `jb-${move.company.index}-m${move.seed}-${step}`, {
        seed: 10_000 + move.seed * 64 + step,
        country: move.to,
        day,
        today,
      }),
    )
}

/** Returns the jobs that a company has opened at home in the last half year. */
export function jobsAtHome(company: WorldCompany, today: number): Job[] {
  const { index } = company
  const slots = Math.floor(chance(index, 301) * 4)
  const jobs: Job[] = []
  for (let slot = 0; slot < slots; slot++) {
    const phase = Math.floor(chance(index, 302, slot) * PERIOD)
    const cycle = Math.floor((today - phase) / PERIOD)
    for (const each of [cycle, cycle - 1]) {
      const day = phase + each * PERIOD
      if (today - day > SHOWN_DAYS) continue
      const seed = each * 4 + slot
      jobs.push(jobAt(company, `jb-${index}-h${seed}`, { seed, country: company.place.country, day, today }))
    }
  }
  return jobs
}

function jobAt(
  company: WorldCompany,
  id: string,
  { seed, country, day, today }: { seed: number; country: string; day: number; today: number },
): Job {
  const { index } = company
  const closes = day + 20 + Math.floor(chance(index, 303, seed) * 70)
  return {
    id,
    company,
    country,
    city: at(markets[marketOf(country)]!.cities, chance(index, 304, seed)),
    function: at(jobFunctions, chance(index, 305, seed)),
    rank: at(seniorityRanks, chance(index, 306, seed)),
    day,
    closedDay: closes <= today ? closes : null,
    seed,
  }
}
