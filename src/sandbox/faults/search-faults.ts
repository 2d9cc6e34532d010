import { z } from 'zod'
import { fault } from './trigger.ts'

/** The endpoints that a fault is for, as the counts name them: `jobs_search`. None named means all. */
const only = z.array(z.string()).default([])
/** A path of keys in an answer: `data.pagination.total_entries`, and `data.jobs[].title` in each row. */
const place = z.string().regex(/^\w+(\[\])?(\.\w+(\[\])?)*$/)
const key = z.string().min(1)

/**
 * Faults of what the wire looks like: the service is another than the one that was described. They hold until they are
 * taken back; those with `next` and `share` hit single requests.
 */
export const searchFaults = {
  /** The limits above which a search answers 416, whatever Profile says of them. Null is the plan's own. */
  searchLimits: z
    .strictObject({
      page: z.int().min(0).nullable().default(null),
      pageCode: z.int().default(41676),
      perPage: z.int().min(1).nullable().default(null),
      perPageCode: z.int().default(41675),
    })
    .prefault({}),
  /** Paths that answer with this status at the door: `{"/jobs/search": 404, "/expansions/*": 401}`. */
  refusedPaths: z.record(z.string(), z.int().min(400).max(499)).default({}),
  /** Fields of answers that bear another name. */
  renamedFields: z.array(z.strictObject({ only, place, to: key })).default([]),
  /** Parameters of requests that bear another name now. The old one works on if `isFollowed`, else it is ignored too. */
  renamedKeys: z
    .array(z.strictObject({ only, from: key, to: key, isFollowed: z.boolean().default(false) }))
    .default([]),
  /** Filters that have no effect. A `silent` one is not even named in `ignored_fields`. */
  droppedFilters: z.array(z.strictObject({ only, key, silent: z.boolean().default(false) })).default([]),
  /** `result` instead of `data`, rows as `data` with the pagination beside it, or the bare rows. */
  envelope: z
    .strictObject({ only, shape: z.enum(['result', 'flat', 'bare']) })
    .nullable()
    .default(null),
  /** Searches do not say how many rows and pages there are in all. */
  missingTotal: fault({ only }),
  /** A word that no one has seen before, in a field of the first row: `data.jobs[].seniority_rank`. */
  unknownWord: fault({
    only,
    place: place.default('data.expansions[].momentum'),
    word: key.default('sideways'),
  }),
  /** The answer is paid for, and cannot be read. */
  unreadable: fault({ only, as: z.enum(['html', 'text', 'list', 'cut']).default('html') }),
  /** A summary is not completed in time: 408. With `settles`, its payment is taken before, and buys the later answer. */
  summaryTimeout: fault({ settles: z.boolean().default(false) }),
}
