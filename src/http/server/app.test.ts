import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createApp } from './app.ts'
import type { HttpEnv } from './request-id.ts'
import { route } from './route.ts'

function appWithDesk() {
  const asked: unknown[] = []
  const get = route({
    method: 'get',
    path: '/v1/runs/{id}',
    operationId: 'run',
    summary: '',
    authenticator: { authenticate: async () => ({ kind: 'anyone', name: 'anyone' }) } as never,
    params: z.object({ id: z.string() }),
    answers: {},
    handle: async ({ params }) => {
      asked.push(params)
      return new Response('ok')
    },
  })
  const app = createApp({
    routes: [get],
    onAnswer: () => {},
    onRefused: async () => {},
    onError: (error) => asked.push(error),
    stopping: new AbortController().signal,
  })
  const desk = new Hono<HttpEnv>().get('/desk/runs/:id', (context) => {
    asked.push(context.req.param())
    return context.text('ok')
  })
  app.route('/', desk)
  return { app, asked }
}

test.each(['/v1/runs/a%00b', '/desk/runs/%00', '/desk/runs/a%1Bb', '/desk/runs/a?find=%00', '/%00'])(
  '%s is a bad request, and no handler sees it',
  async (target) => {
    const { app, asked } = appWithDesk()
    const answer = await app.request(target)
    expect([answer.status, await answer.json()]).toEqual([
      400,
      expect.objectContaining({
        code: 'malformed_target',
        detail: 'the path or query has a control character',
      }),
    ])
    expect(asked).toEqual([])
  },
)

test.each(['/v1/runs/a%20b', '/desk/runs/%C3%A4', '/desk/runs/a?find=a%0Ab'])(
  '%s is handled',
  async (target) => {
    const { app } = appWithDesk()
    expect((await app.request(target)).status).toBe(200)
  },
)
