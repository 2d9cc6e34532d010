import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { testSeed } from '../../../test/support/seed.ts'
import { canonicalNetworkUrl, networkUrlNames, networkUrlOf, type NetworkUrlName } from './network-url.ts'

const valueOf = (name: NetworkUrlName, raw: string) => {
  const canonical = canonicalNetworkUrl(name, raw)
  if (!canonical.ok) throw new Error(`${raw}: ${canonical.reason}`)
  return canonical.value
}

describe('the page of a company on another network, however it is written', () => {
  test.each<[NetworkUrlName, canonical: string, sent: string, spellings: string[]]>([
    [
      'tiktok_url',
      'tiktok.com/@acme.robots',
      'https://tiktok.com/@acme.robots',
      [
        'https://www.tiktok.com/@acme.robots',
        'HTTP://TikTok.com/@Acme.Robots/',
        'm.tiktok.com/@acme.robots?lang=de&_t=8x',
        '<https://www.tiktok.com/@acme.robots/video/123#c>',
        'https://www.tiktok.com/%40acme.robots',
        '  //tiktok.com//@acme.robots ',
      ],
    ],
    [
      'wantedly_url',
      'wantedly.com/companies/acme',
      'https://wantedly.com/companies/acme',
      [
        'https://www.wantedly.com/companies/acme',
        'https://en-jp.wantedly.com/companies/acme/?utm_source=x',
        'sg.wantedly.com/companies/acme#top',
      ],
    ],
    [
      'tw104_url',
      '104.com.tw/company/1a2x6bk0ab',
      'https://104.com.tw/company/1a2x6bk0ab',
      [
        'https://www.104.com.tw/company/1a2x6bk0ab?jobsource=m104_hotorder',
        'https://m.104.com.tw/company/1a2x6bk0ab/',
      ],
    ],
    [
      'tw104_url',
      '104.com.tw/jobbank/custjob/index.php?j=48&r=cust',
      'https://104.com.tw/jobbank/custjob/index.php?j=48&r=cust',
      [
        'https://www.104.com.tw/jobbank/custjob/index.php?r=cust&j=48&jobsource=x',
        'www.104.com.tw/jobbank/custjob/index.php?j=48&r=cust',
      ],
    ],
    [
      'rocketpunch_url',
      'rocketpunch.com/companies/로켓펀치',
      'https://rocketpunch.com/companies/%EB%A1%9C%EC%BC%93%ED%8E%80%EC%B9%98',
      [
        'https://www.rocketpunch.com/companies/로켓펀치',
        'https://www.rocketpunch.com/companies/%EB%A1%9C%EC%BC%93%ED%8E%80%EC%B9%98/',
        `rocketpunch.com/companies/${'로켓펀치'.normalize('NFD')}`,
      ],
    ],
    [
      'remember_url',
      'career.rememberapp.co.kr/job/company/Acme',
      'https://career.rememberapp.co.kr/job/company/Acme',
      [
        'https://career.rememberapp.co.kr/job/company/Acme',
        'http://CAREER.rememberapp.co.kr/job//company/Acme/?x=1',
      ],
    ],
    [
      'youtrust_url',
      'youtrust.jp/companies/a%2Fb',
      'https://youtrust.jp/companies/a%2Fb',
      ['https://youtrust.jp/companies/a%2Fb', 'youtrust.jp/companies/a%2fb/'],
    ],
  ])('%s is %s', (name, canonical, sent, spellings) => {
    for (const spelling of spellings)
      expect([spelling, valueOf(name, spelling)]).toEqual([spelling, canonical])
    expect(networkUrlOf(canonical)).toBe(sent)
    expect(valueOf(name, sent)).toBe(canonical)
  })

  test('keeps the case of paths, because two companies may differ by it alone', () => {
    expect(valueOf('youtrust_url', 'https://youtrust.jp/companies/aB')).not.toBe(
      valueOf('youtrust_url', 'https://youtrust.jp/companies/ab'),
    )
  })

  test.each<[NetworkUrlName, string, string]>([
    ['tiktok_url', '', 'it is empty'],
    ['tiktok_url', '@acme', 'it has no host name'],
    ['tiktok_url', 'acme', 'it has no host name'],
    ['tiktok_url', 'ftp://tiktok.com/@acme', 'it is not a URL'],
    ['tiktok_url', 'https://ann@tiktok.com/@acme', 'it is not a URL'],
    ['tiktok_url', 'https://www.tiktok.com/', 'no page of a company follows its host'],
    ['tiktok_url', 'https://www.tiktok.com/%20/', 'no page of a company follows its host'],
    ['tiktok_url', 'https://www.tiktok.com/@a%FF', 'its path is wrongly percent-encoded'],
    ['tiktok_url', 'https://www.tiktok.com/@a%00', 'it contains control characters'],
    ['tiktok_url', 'https://www.tiktok.com/@a b', 'it contains white space'],
    ['tiktok_url', `https://www.tiktok.com/@${'a'.repeat(700)}`, 'it is too long'],
    ['tiktok_url', `https://www.tiktok.com/@${'a'.repeat(3_000)}`, 'it has more than 2048 characters'],
    ['tiktok_url', 'https://www.wantedly.com/companies/acme', 'its host does not name tiktok'],
    ['tw104_url', 'https://1104.com.tw/company/x', 'its host does not name 104'],
  ])('of %s %j is refused: %s', (name, raw, reason) => {
    expect(canonicalNetworkUrl(name, raw)).toEqual({ ok: false, reason })
  })

  test('is the same when it is folded again, whatever its path is', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...networkUrlNames),
        fc.webUrl({ withQueryParameters: true, withFragments: true }),
        fc.string({ unit: 'grapheme' }),
        (name, url, more) => {
          const word = name.replace('_url', '').replace('tw', '')
          const raw = `${url.replace(/^(https?:\/\/)[^/]+/, `$1www.${word}.example`)}/${more}`
          const first = canonicalNetworkUrl(name, raw)
          if (!first.ok) return
          expect(canonicalNetworkUrl(name, networkUrlOf(first.value))).toEqual(first)
        },
      ),
      { numRuns: 500, seed: testSeed() },
    )
  })
})
