import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { dictionaries } from './dictionaries.ts'
import { packJson, readJson, unpackJson } from './packed-json.ts'

it('keeps every dictionary as it was when the first value was packed with it', () => {
  const digests = Object.entries(dictionaries).map(([letter, bytes]) => [
    letter,
    createHash('sha256').update(bytes).digest('hex').slice(0, 16),
  ])
  // A changed text makes answers that were paid for unreadable. Never correct a line here: add one.
  expect(Object.fromEntries(digests)).toEqual({
    a: 'a4cb0e23d7e84351',
    p: '72fd512c79e3d1cd',
    z: '3ed52a4feb28dee5',
  })
})

it('reads in every later version what this one has packed', () => {
  const answer = '{"$z":"ai5}VI-)Zp@a,4?r?1qH0I6/Ny`UE#:r<0X]_(!!"}'
  expect(readJson(answer)).toEqual({ company_name: 'Acme GmbH', domain: 'acme.example', people: [] })
  const patch = '{"$z":"pIc&-)Zp@gs6STlx_2@-V]q5tJ*u9W:jBD89!!","$f":"ACTK"}'
  expect(readJson(patch)).toEqual({
    company_name: { set: 'Acme GmbH' },
    domain: { set: 'acme.example' },
    full_name: { clear: true },
    founded_year: { set: 1987 },
  })
  const authorization = '{"$z":"z,rD%Vc:$-4WSB5E!sG@&cG)^~!!!","validAfter":0,"validBefore":10}'
  expect(JSON.stringify(readJson(authorization))).toBe(
    '{"terms":{"protocol":"x402","raw":{}},"payer":"0x1","nonce":"0x2","validAfter":0,"validBefore":10,"paymentId":"pd_2"}',
  )
})

it('leaves alone what is not packed', () => {
  for (const value of [null, 1, 'text', [], [{ $z: 'a' }], {}, { z: 1 }, { nested: { $z: 'a' } }])
    expect(unpackJson(value)).toBe(value)
})

it('gives back the names in their order, and the members beside in place of those inside', () => {
  const json = '{"b":1,"10":"é\\u0000","a":{"z":1,"y":[null,true]},"__proto__":{"c":2}}'
  const unpacked = unpackJson(JSON.parse(JSON.stringify(packJson('z', json, { a: 7, $p: true }))))
  expect(JSON.stringify(unpacked)).toBe(JSON.stringify({ ...(JSON.parse(json) as object), a: 7 }))
})

it('refuses what it does not know, and never takes it for an empty value', () => {
  for (const packed of ['', 'Z123', '_', 7, null])
    expect(() => unpackJson({ $z: packed })).toThrow('packed in an unknown way')
  const { $z: good } = packJson('a', JSON.stringify({ domain: 'a-company.example', people: [] })) as {
    $z: string
  }
  expect(() => unpackJson({ $z: good.slice(0, -4) })).toThrow(/unexpected end of file/)
})
