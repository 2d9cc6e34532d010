import type { CreateResult } from '../../creating.ts'
import { RefusedRequestError } from '../api/api-error.ts'
import { compositeSchema, refusalsSchema, saveResultSchema } from '../api/answers.ts'
import { headerLines, type WriteHeaders } from '../api/collections.ts'
import type { DescribedObject } from '../api/schema-cache.ts'
import { chunk } from '../read.ts'
import { existing, resultOf } from './results.ts'
import type { Prepared } from './draft.ts'
import type { MakerDeps } from './deps.ts'

/** As many requests as a composite one may hold: it counts as one call. */
const perCall = 25

/**
 * Asks which records the org's duplicate rules found for drafts that they refused: the answer for a collection does not say, that
 * for a single record does. Each is sent once more by itself, with its key, and is made if the rules have no objection any more.
 */
export async function nameMatches(
  deps: MakerDeps,
  object: DescribedObject,
  drafts: readonly Prepared[],
  headers: WriteHeaders,
): Promise<(CreateResult | undefined)[]> {
  const results: (CreateResult | undefined)[] = []
  for (const part of chunk(drafts, perCall)) {
    const { compositeResponse } = await deps
      .inTurn(() =>
        deps.client.call(compositeSchema, {
          method: 'POST',
          path: '/composite',
          json: {
            allOrNone: false,
            compositeRequest: part.map(({ body }, index) => ({
              method: 'POST',
              url: `/services/data/v${deps.client.apiVersion}/sobjects/${object.name}`,
              referenceId: `r${index}`,
              httpHeaders: headerLines(headers),
              body,
            })),
          },
        }),
      )
      .catch((error: unknown) => {
        // The verdict is known without the names.
        if (error instanceof RefusedRequestError) return { compositeResponse: [] }
        throw error
      })
    results.push(...part.map((draft, at) => readAnswer(deps, object, draft, compositeResponse[at]?.body)))
  }
  return results
}

function readAnswer(
  deps: MakerDeps,
  object: DescribedObject,
  draft: Prepared,
  body: unknown,
): CreateResult | undefined {
  const saved = saveResultSchema.safeParse(body)
  if (saved.success && saved.data.success && typeof saved.data.id === 'string')
    return resultOf(deps, object, draft, { kind: 'done', id: saved.data.id })
  const refusals = refusalsSchema.safeParse(body)
  const [refusal] = refusals.success ? refusals.data : []
  if (!refusal) return undefined
  const { errorCode: statusCode, message, fields } = refusal
  return statusCode === 'DUPLICATES_DETECTED'
    ? existing(draft.key, refusal.duplicateResut ?? refusal.duplicateResult, object)
    : resultOf(deps, object, draft, { kind: 'failed', error: { statusCode, message, fields } })
}
