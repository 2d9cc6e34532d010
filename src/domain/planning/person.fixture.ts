import { builtInRecipes } from './recipes.ts'
import type { Fact } from '../record.ts'

// One person, with what the service says of her.

export const contact = builtInRecipes('person', 'contact')
export const full = builtInRecipes('person', 'full')
export const found = (data: Record<string, unknown>): Fact => ({ outcome: 'found', data })
export const nothing: Fact = { outcome: 'not_found', data: null }
export const mail = { email: 'ada@acme.example' }
export const url = { profileUrl: 'https://profnet.com/in/ada' }
export const match = (more: Record<string, unknown> = {}): Fact =>
  found({
    people_search_id: '77',
    name: 'Ada Moreau',
    title: 'CTO',
    company_name: 'Acme',
    profnet_url: 'https://www.profnet.com/in/ada',
    ...more,
  })
export const profile = found({
  name: 'Ada Moreau',
  city: 'Lyon',
  company: { company_name: 'Acme', profnet_url: 'https://profnet.com/company/acme' },
})
