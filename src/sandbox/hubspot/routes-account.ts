import { Hono } from 'hono'
import type { HubspotAuth } from './auth.ts'
import { HubspotError } from './errors.ts'
import type { HubspotEnv } from './gate.ts'
import type { HubspotLimits, Limiter } from './limits.ts'

/** Account details, usage and tokens. */
export function accountRoutes(
  auth: HubspotAuth,
  limiter: Limiter,
  limits: HubspotLimits,
  portalId: number,
  now: () => number,
): Hono<HubspotEnv> {
  const app = new Hono<HubspotEnv>()

  for (const path of ['/oauth/2026-03/token', '/oauth/v3/token', '/oauth/v1/token'])
    app.post(path, async (c) => c.json(auth.refresh(new URLSearchParams(await c.req.text()))))

  for (const path of ['/account-info/v3/details', '/account-info/2026-09/details'])
    app.get(path, (c) =>
      c.json({
        portalId,
        accountType: 'STANDARD',
        timeZone: 'Europe/Berlin',
        companyCurrency: 'EUR',
        additionalCurrencies: [],
        utcOffset: '+01:00',
        utcOffsetMilliseconds: 3_600_000,
        uiDomain: 'app.hubspot.com',
        dataHostingLocation: 'na1',
      }),
    )

  for (const path of [
    '/account-info/v3/api-usage/daily/private-apps',
    '/account-info/2026-09/api-usage/daily/private-apps',
  ])
    app.get(path, (c) => {
      if (c.get('token') !== auth.accessToken)
        throw new HubspotError(403, 'FORBIDDEN', 'This endpoint is for private apps only.')
      const midnight = (Math.floor(now() / 86_400_000) + 1) * 86_400_000
      return c.json({
        results: [
          {
            name: 'private-apps-api-calls-daily',
            usageLimit: limits.perDay,
            currentUsage: limiter.usedToday(),
            collectedAt: new Date(now()).toISOString(),
            fetchStatus: 'SUCCESS',
            resetsAt: new Date(midnight).toISOString(),
          },
        ],
      })
    })

  app.post('/oauth/v2/private-apps/get/access-token-info', async (c) => {
    const { tokenKey } = JSON.parse(await c.req.text()) as { tokenKey?: string }
    const { isOauth } = auth.check(`Bearer ${tokenKey}`)
    if (isOauth) throw new HubspotError(404, 'OBJECT_NOT_FOUND', 'resource not found')
    return c.json({ userId: 1_234_567, hubId: portalId, appId: 7_654_321, scopes: [...auth.scopes] })
  })

  return app
}
