import { describe, expect, test } from 'vitest'
import type { FieldValue } from '../record.ts'
import { sameValue } from './same-value.ts'

describe('two values mean the same', () => {
  test.each<[field: string, a: FieldValue, b: FieldValue]>([
    ['email', 'Ada@Acme.example', 'ada@acme.example'],
    ['email', 'No Address', 'no address'],
    ['email_personal', 'Ada@Acme.example', 'mailto:ada@acme.example'],
    ['phone', '+1 (415) 555-2671', '+14155552671'],
    ['phone', '0014155552671', '+1 415 555 2671'],
    ['phone', '+1 415 555 2671 x12', '+14155552671 ext. 12'],
    ['phone', '555-26', '55526'],
    ['mobile_phone', '+33 6 12 34 56 78', '+33612345678'],
    ['domain', 'WWW.Acme.example', 'acme.example'],
    ['domain', 'None Yet', 'none yet'],
    ['website', 'acme.example', 'https://www.acme.example/'],
    ['logo', 'http://acme.example/a.png', 'https://acme.example/a.png'],
    ['profnet_url', 'de.profnet.example/in/Ada/', 'https://www.profnet.example/in/ada'],
    ['profnet_url', 'profnet.example/company/acme', 'https://profnet.example/company/acme/'],
    ['profnet_url', 'acme.example', 'https://www.acme.example/'],
    ['company_profnet_url', 'profnet.example/company/acme', 'https://profnet.example/company/acme/'],
    ['country_code', 'Germany', 'DE'],
    ['country_code', 'Atlantis', 'atlantis'],
    ['employees', '1,200', 1200],
    ['employees', '1.200.300', 1_200_300],
    ['employees', "1'200'300", '1 200 300'],
    ['founded_year', '+1998', 1998],
    ['followers', '1e3', 1000],
    ['followers', '.5', 0.5],
    ['followers', '-0', 0],
    ['connections', '500.0', 500],
    ['connections', 'many', ' many '],
    ['industry', 'HOSPITAL_AND_HEALTH_CARE', 'Hospital & Health Care'],
    ['company_type', 'PRIVATELY_HELD', 'Privately Held'],
    ['company_type', '—', ' — '],
    ['open_jobs', '0', 0],
    ['open_jobs_change_30d', '-3', -3],
    ['last_news_at', '2026-11-22T00:00:00Z', '2026-11-22'],
    ['left_company_at', '2026-10-31', '2026-10-31T10:00:00.000Z'],
    ['advertising', 'No', false],
    ['advertising', 'true', true],
    ['signal_score', '41.250', 41.25],
    ['signals_checked_at', '2026-11-23T23:59:59.000+0000', '2026-11-23T23:59:59.987Z'],
    ['tagline', 'Robots  for\nall ', 'Robots for all'],
    ['tagline', 'Robots for…', 'Robots for all'],
    ['tagline', 'Robots for all', 'Robots f …'],
    ['tagline', true, 'true'],
  ])('%s: %j and %j', (field, a, b) => {
    expect(sameValue(field, a, b)).toBe(true)
    expect(sameValue(field, b, a)).toBe(true)
  })

  test.each<[field: string, a: FieldValue, b: FieldValue]>([
    ['email', 'ada@acme.example', 'bob@acme.example'],
    ['phone', '+14155552671', '+14155552672'],
    ['phone', '+14155552671 ext. 12', '+14155552671'],
    ['phone', '+14155552671', '+14155552671;ext=undefined'],
    ['phone', 'ask Bob 1', 'ask Bob 2'],
    ['phone', 'ask 1', '1'],
    ['phone', '4155552671', '+14155552671'],
    ['mobile_phone', '06 12 34 56 78', '+33612345678'],
    ['domain', 'acme.example', 'acme.test'],
    ['website', 'acme.example/a', 'acme.example/b'],
    ['profnet_url', 'profnet.example/in/ada', 'profnet.example/company/ada'],
    ['country_code', 'DE', 'AT'],
    ['employees', '1,20', 120],
    ['employees', '1,2000', 12_000],
    ['employees', '11-50', '1150'],
    ['employees', '1+2', 12],
    ['employees', '5 people', 5],
    ['founded_year', '1998', '1999'],
    ['industry', 'Robots', 'Robotics'],
    ['industry', 'Robots…', 'Robots and more'],
    ['tagline', 'robots', 'Robots'],
    ['tagline', '…', 'Robots'],
    ['tagline', 'Robots', 'Robots for all'],
    ['toString', 'a', 'b'],
  ])('not of %s: %j and %j', (field, a, b) => {
    expect(sameValue(field, a, b)).toBe(false)
    expect(sameValue(field, b, a)).toBe(false)
  })

  test('of a phone without a prefix by the country, as code or name', () => {
    expect(sameValue('phone', '(415) 555-2671', '+14155552671', 'US')).toBe(true)
    expect(sameValue('phone', '(415) 555-2671', '+14155552671', 'United States')).toBe(true)
    expect(sameValue('phone', '(415) 555-2671', '+14155552671', 'Atlantis')).toBe(false)
    expect(sameValue('phone', '(415) 555-2671', '+14155552671', 'FR')).toBe(false)
  })
})
