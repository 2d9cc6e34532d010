import { expect, test } from 'vitest'
import { textWithoutSecrets, withoutRequestSecrets, withoutSecrets } from './without-secrets.ts'

test('an answer keeps the names of its secrets alone', () => {
  const answer = {
    data: {
      name: 'Spain',
      webhook_url: 'https://hooks.example/a',
      webhook_headers: { 'X-Key': 'abc' },
      token: 'abc',
      accounts: [{ api_key: 'abc', secrets: ['abc'], authorization: null }],
    },
  }
  expect(withoutSecrets(answer)).toEqual({
    data: {
      name: 'Spain',
      webhook_url: 'https://hooks.example/a',
      webhook_headers: { 'X-Key': '(not kept)' },
      token: '(not kept)',
      accounts: [{ api_key: '(not kept)', secrets: ['(not kept)'], authorization: null }],
    },
  })
})

test('a request keeps neither the parameters of a template nor the path of a webhook', () => {
  const request = {
    webhook_url: 'https://user:abcd@hooks.example/services/T0/secret-path?x=1',
    parameters: { bot: 'abcd', list: ['abcd'] },
    filters: { froms: ['ES'] },
    links: ['https://hooks.example/', 'not a url'],
  }
  expect(withoutRequestSecrets(request)).toEqual({
    webhook_url: 'https://hooks.example/(not kept)',
    parameters: { bot: '(not kept)', list: '(not kept)' },
    filters: { froms: ['ES'] },
    links: ['https://hooks.example/', 'not a url'],
  })
  const echoed = `<p>${request.webhook_url} ${JSON.stringify(request.webhook_url).replaceAll('/', '\\/')} abcd ES</p>`
  expect(textWithoutSecrets(echoed, request)).toBe('<p>(not kept) "(not kept)" (not kept) ES</p>')
})
