import { describe, expect, test } from 'vitest'
import { RetriableError } from '../domain/errors.ts'
import { createLogoClient } from './logo.ts'
import type { BinaryResponse } from './transport.ts'

const image = (text: string, headers: Record<string, string> = {}): BinaryResponse => ({
  status: 200,
  headers: { 'content-type': 'image/png', ...headers },
  bytes: Buffer.from(text),
})

/** A logo endpoint that knows these domains and returns the placeholder for all others. */
function endpoint(
  logos: Record<string, BinaryResponse | Error>,
  options: { placeholderHeader?: string } = {},
) {
  const asked: string[] = []
  const client = createLogoClient(
    {
      async sendForBytes({ method, url }) {
        expect(method).toBe('GET')
        asked.push(url)
        const reply =
          logos[decodeURIComponent(url.slice(url.lastIndexOf('/') + 1))] ?? logos['*'] ?? image('grey tile')
        if (reply instanceof Error) throw reply
        return reply
      },
    },
    { logoUrl: 'https://logo.example/of/', ...options },
  )
  return { ...client, asked }
}

describe('a logo', () => {
  test('is the address at which it was found', async () => {
    const { lookup, asked } = endpoint({ 'acme.example': image('a drawing') })
    expect(await lookup('acme.example')).toEqual({
      outcome: 'found',
      data: { url: 'https://logo.example/of/acme.example' },
    })
    expect(asked[0]).toBe('https://logo.example/of/acme.example')
  })

  test('with the bytes of the placeholder counts as not found', async () => {
    const { lookup, asked } = endpoint({ 'acme.example': image('a drawing') })
    expect(await lookup('unknown.example')).toEqual({ outcome: 'not_found', data: null })
    expect(await lookup('acme.example')).toMatchObject({ outcome: 'found' })
    // The placeholder was requested once, under a name that cannot be registered.
    expect(asked.filter((url) => url.endsWith('.invalid'))).toHaveLength(1)
  })

  test('with the configured placeholder header counts as not found, with any bytes', async () => {
    const { lookup } = endpoint(
      {
        'drawn.example': image('one of many tiles', { 'x-logo': 'none' }),
        'other.example': image('a drawing', { 'x-logo': 'full' }),
      },
      { placeholderHeader: 'X-Logo: none' },
    )
    expect(await lookup('drawn.example')).toEqual({ outcome: 'not_found', data: null })
    expect(await lookup('other.example')).toMatchObject({ outcome: 'found' })
  })

  test('may come in any image format', async () => {
    for (const type of ['image/svg+xml', 'image/webp', 'image/jpeg; q=1'])
      expect(
        await endpoint({ 'a.example': image('x', { 'content-type': type }) }).lookup('a.example'),
      ).toMatchObject({
        outcome: 'found',
      })
  })

  test.each([
    [
      'a page',
      image('<html>', { 'content-type': 'text/html' }),
      { name: 'RetriableError', code: 'not_an_image' },
    ],
    [
      'nothing that says what it is',
      { ...image('x'), headers: {} },
      { name: 'RetriableError', code: 'not_an_image' },
    ],
    [
      '429',
      { ...image('x'), status: 429 },
      { name: 'RetriableError', code: 'logo_failed', countsAsTry: true },
    ],
    ['500', { ...image('x'), status: 500 }, { name: 'RetriableError', code: 'logo_failed' }],
    ['403', { ...image('x'), status: 403 }, { name: 'FatalError', code: 'logo_refused' }],
    ['no answer', new RetriableError('timeout', 'x'), { code: 'timeout' }],
  ])('that comes as %s throws', async (_, reply, error) => {
    await expect(endpoint({ 'acme.example': reply }).lookup('acme.example')).rejects.toMatchObject(error)
  })

  test('that is answered with 404 counts as not found', async () => {
    expect(await endpoint({ '*': { ...image('x'), status: 404 } }).lookup('a.example')).toMatchObject({
      outcome: 'not_found',
    })
  })

  test('is not guessed while the placeholder is unknown: the next lookup requests the placeholder again', async () => {
    const logos: Record<string, BinaryResponse | Error> = {
      'acme.example': image('a drawing'),
      'no-such-company.invalid': new RetriableError('timeout', 'x'),
    }
    const { lookup } = endpoint(logos)
    await expect(lookup('acme.example')).rejects.toMatchObject({ code: 'timeout' })
    logos['no-such-company.invalid'] = image('grey tile')
    expect(await lookup('acme.example')).toMatchObject({ outcome: 'found' })
  })
})
