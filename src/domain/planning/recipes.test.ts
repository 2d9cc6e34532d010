import { describe, expect, test } from 'vitest'
import { boughtFieldNames } from '../fields.ts'
import { recipesSchema, resolveRecipes } from './recipe-schema.ts'
import { builtInRecipes, recipes } from './recipes.ts'

const mail = {
  fields: ['email'],
  steps: ['contact.lookup', 'contact.redeem'],
  priceCeilingUsd: '0.20',
  stopWhen: ['email'],
}
const resolve = (config: unknown) => resolveRecipes(recipesSchema.parse(config))

describe('recipes', () => {
  test.each(['profile', 'contact', 'full'])('%s is built in, with fields that there are', (name) => {
    for (const object of ['company', 'person'] as const) {
      const recipe = builtInRecipes(object, name)
      expect(recipe.name).toBe(name)
      expect(boughtFieldNames(object)).toEqual(expect.arrayContaining([...recipe.fields]))
    }
  })

  test('profile is the default recipe, with the profile and the logo alone', () => {
    expect(recipes.company.steps).toEqual(['company.profile', 'company.logo'])
    expect(recipes.person.steps).toEqual(['person.profile'])
    for (const field of ['email', 'email_personal', 'phone', 'mobile_phone'])
      expect(recipes.person.fields).not.toContain(field)
  })

  test('no built-in one reveals private addresses', () => {
    for (const name of ['profile', 'contact', 'full'])
      expect(builtInRecipes('person', name).fields).not.toContain('email_personal')
  })

  test('those of the config win over the built-in ones', () => {
    const book = resolve({
      mail: { person: mail },
      full: { person: { ...mail, similaritySearch: true, country: 'FR' } },
    })
    expect(book('person', 'mail')).toMatchObject({
      name: 'mail',
      priceCeilingAtomic: 200_000n,
      stopWhen: ['email'],
    })
    expect(book('person', 'full')).toMatchObject({ similarity: true, country: 'FR', fields: ['email'] })
    expect(book('company', 'full')).toEqual(builtInRecipes('company', 'full'))
  })

  test.each<[config: unknown, message: string]>([
    [
      { x: { person: { ...mail, fields: ['e_mail'] } } },
      'recipes.x.person: a person has no field "e_mail" (near: email',
    ],
    [
      { x: { person: { ...mail, stopWhen: ['domain'] } } },
      'recipes.x.person: a person has no field "domain"',
    ],
    [
      { x: { company: { fields: ['domain'], steps: ['contact.lookup'] } } },
      'recipes.x.company: contact.lookup is not a step for a company',
    ],
    [
      { x: { person: { fields: ['email'], steps: ['company.enrich'] } } },
      'company.enrich is not a step for a person',
    ],
  ])('refuses %j', (config, message) => {
    expect(() => resolve(config)).toThrow(message)
  })

  test.each([
    { x: { person: { ...mail, steps: ['account.profile'] } } },
    { x: { person: { ...mail, priceCeilingUsd: '-1' } } },
    { x: { person: { ...mail, feilds: [] } } },
  ])('is no config: %j', (config) => expect(recipesSchema.safeParse(config).success).toBe(false))

  test('an unknown name is refused, and the known ones are listed', () => {
    expect(() => resolve({ mail: { person: mail } })('person', 'maill')).toThrow(
      'there are profile, contact, full, mail',
    )
    expect(() => builtInRecipes('person', 'constructor')).toThrow('no recipe')
  })
})
