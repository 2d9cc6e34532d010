import { Hono } from 'hono'
import { z } from 'zod'
import { SalesforceError } from '../errors.ts'
import type { SalesforceEnv } from '../gate.ts'
import { parseBody } from '../routes-records.ts'

const bodySchema = z.object({
  allOrNone: z.boolean().default(false),
  collateSubrequests: z.boolean().default(false),
  compositeRequest: z.array(
    z.object({
      method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
      url: z.string(),
      referenceId: z.string(),
      httpHeaders: z.record(z.string(), z.string()).default({}),
      body: z.unknown().optional(),
    }),
  ),
})

const maxSubrequests = 25
/** "Up to 5 of these subrequests can be sObject Collections or query operations, including Query and QueryAll requests." */
const maxQueries = 5

/**
 * `POST composite`: up to 25 requests in one, which counts as one call ("Composite", REST API Developer Guide). Headers of a
 * subrequest are its own (`httpHeaders`), and those of the whole do not reach it. References from one to another are not
 * supported here.
 */
export function compositeRoutes(
  dispatch: (request: Request) => Promise<Response> | Response,
): Hono<SalesforceEnv> {
  const app = new Hono<SalesforceEnv>()
  app.post('/composite', async (c) => {
    const { compositeRequest, allOrNone } = parseBody(bodySchema, await c.req.text())
    // The guide says the numbers, and not what is answered above them.
    if (compositeRequest.length > maxSubrequests)
      throw new SalesforceError(400, 'INVALID_INPUT', `cannot have more than ${maxSubrequests} subrequests`)
    if (compositeRequest.filter(({ url }) => isQueryOrCollection(url)).length > maxQueries)
      throw new SalesforceError(
        400,
        'INVALID_INPUT',
        `cannot have more than ${maxQueries} queries and collections`,
      )
    if (allOrNone)
      throw new SalesforceError(400, 'INVALID_INPUT', 'allOrNone is not supported by this stand-in')
    if (new Set(compositeRequest.map(({ referenceId }) => referenceId)).size < compositeRequest.length)
      throw new SalesforceError(400, 'INVALID_INPUT', 'every referenceId must be unique')
    const answers = []
    for (const { method, url, referenceId, httpHeaders, body } of compositeRequest) {
      if (!url.startsWith('/services/data/v') || !/^\w+$/.test(referenceId))
        throw new SalesforceError(400, 'INVALID_INPUT', `url or referenceId of a subrequest is wrong`)
      const response = await dispatch(
        new Request(new URL(url, c.req.url), {
          method,
          headers: { 'content-type': 'application/json', ...httpHeaders },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        }),
      )
      const text = await response.text()
      answers.push({
        body: text === '' ? null : (JSON.parse(text) as unknown),
        httpHeaders: {},
        httpStatusCode: response.status,
        referenceId,
      })
    }
    return c.json({ compositeResponse: answers })
  })
  return app
}

function isQueryOrCollection(url: string): boolean {
  return /\/v\d+\.\d\/(?:query(?:All)?\b|composite\/sobjects)/.test(url)
}
