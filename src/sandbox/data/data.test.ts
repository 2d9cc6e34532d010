import { describe, expect, test } from 'vitest'
import { companySchema } from '../../service/schema/company.ts'
import { personSchema } from '../../service/schema/person.ts'
import { companyAnswer } from './company.ts'
import { personAnswer } from './person.ts'

describe('the synthetic data', () => {
  test('fits the schemas, for 200 companies and people, including misses and null fields', () => {
    const answers = Array.from({ length: 200 }, (_, index) => ({
      company: companyAnswer(`https://www.profnet.example/company/firm-${index}`).data,
      person: personAnswer(`https://www.profnet.example/in/someone-${index}`).data,
    }))
    for (const answer of answers) {
      companySchema.nullable().parse(answer.company)
      personSchema.nullable().parse(answer.person)
    }
    for (const kind of ['company', 'person'] as const) {
      const missing = answers.filter((answer) => answer[kind] === null).length
      expect(missing).toBeGreaterThan(2)
      expect(missing).toBeLessThan(30)
    }
    const found = answers.map((answer) => answer.company).filter((each) => each !== null)
    expect(new Set(found.map((each) => each.industry)).size).toBeGreaterThan(8)
    expect(new Set(found.map((each) => each.country_code)).size).toBeGreaterThan(10)
    expect(found.some((each) => each.founded_year === null)).toBe(true)
    expect(found.some((each) => each.recent_activities!.length > 0)).toBe(true)
    // Every field of section 2.1 and 2.2 is sent.
    expect(Object.keys(found[0]!).sort()).toEqual(Object.keys(companySchema.shape).sort())
    const people = answers.map((answer) => answer.person).filter((each) => each !== null)
    expect(Object.keys(people[0]!).sort()).toEqual(Object.keys(personSchema.shape).sort())
  })

  test('is the same for every spelling of the URL, and differs for another profile', () => {
    const one = companyAnswer('https://www.profnet.example/company/harbour-lights')
    expect(one.data).not.toBeNull()
    for (const url of [
      'http://profnet.example/company/harbour-lights/',
      'https://DE.profnet.example/company/Harbour-Lights?trk=x#about',
      'https://www.profnet.example/company/harbour%2Dlights/about/',
    ]) {
      expect(companyAnswer(url)).toEqual(one)
    }
    expect(companyAnswer('https://www.profnet.example/company/harbour-light')).not.toEqual(one)
    expect(companyAnswer('https://www.profnet.example/company/anything-missing')).toEqual({ data: null })
  })
})
