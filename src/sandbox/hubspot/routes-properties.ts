import { Hono } from 'hono'
import { z } from 'zod'
import type { HubspotAuth } from './auth.ts'
import { HubspotError, notFound, validationError } from './errors.ts'
import type { HubspotFaults } from './faults.ts'
import type { HubspotEnv } from './gate.ts'
import type { HubspotProperty } from './properties.ts'
import { objectType, parseBody, scope } from './answers.ts'
import type { HubspotStore } from './store.ts'

/** Properties and their groups, below `/crm/v3/properties` and `/crm/properties/2026-09`. */
export function propertyRoutes(store: HubspotStore, auth: HubspotAuth, now: () => number): Hono<HubspotEnv> {
  const app = new Hono<HubspotEnv>()

  app.get('/:type/groups', (c) => {
    const type = objectType(c.req.param('type'))
    auth.require(scope(type, 'read', 'schemas'))
    return c.json({ results: [...store.registry.groups[type].values()] })
  })

  app.post('/:type/groups', async (c) => {
    const type = objectType(c.req.param('type'))
    auth.require(scope(type, 'write', 'schemas'))
    const given = parseBody(groupSchema, await c.req.text())
    const groups = store.registry.groups[type]
    refuseName(given.name)
    if (groups.has(given.name))
      throw new HubspotError(409, 'CONFLICT', `The property group '${given.name}' already exists.`)
    const group = { displayOrder: -1, ...defined(given), archived: false }
    groups.set(group.name, group)
    return c.json(group, 201)
  })

  app.get('/:type/groups/:name', (c) => {
    const type = objectType(c.req.param('type'))
    auth.require(scope(type, 'read', 'schemas'))
    const group = store.registry.groups[type].get(c.req.param('name'))
    if (!group) throw notFound(`Property group ${c.req.param('name')} does not exist`)
    return c.json(group)
  })

  app.get('/:type', (c) => {
    const type = objectType(c.req.param('type'))
    auth.require(scope(type, 'read', 'schemas'))
    return c.json({ results: [...store.registry.properties[type].values()] })
  })

  app.post('/:type', async (c) => {
    const type = objectType(c.req.param('type'))
    auth.require(scope(type, 'write', 'schemas'))
    const given = parseBody(propertySchema, await c.req.text())
    refuseName(given.name)
    if (!store.registry.groups[type].has(given.groupName))
      throw validationError(`Property group '${given.groupName}' does not exist`)
    if (store.registry.properties[type].has(given.name))
      throw new HubspotError(409, 'CONFLICT', `A property named '${given.name}' already exists.`)
    if (!FIELD_TYPES[given.type].includes(given.fieldType))
      throw validationError(`fieldType ${given.fieldType} is not valid for type ${given.type}`)
    // "The contact object type can only have a maximum of 10 unique properties", as the others (HubSpot's changelog).
    const uniques = [...store.registry.properties[type].values()].filter(
      ({ hasUniqueValue }) => hasUniqueValue,
    )
    if (given.hasUniqueValue && uniques.length >= 10)
      throw validationError('An object can have at most 10 properties with unique values')
    if (given.type === 'enumeration' && given.options.length === 0)
      throw validationError('An enumeration property needs options')
    if (
      given.type === 'bool' &&
      given.options
        .map(({ value }) => value)
        .toSorted()
        .join() !== 'false,true'
    )
      throw validationError('A boolean property needs exactly two options with the values true and false')
    const at = new Date(now()).toISOString()
    const property: HubspotProperty = {
      description: '',
      displayOrder: -1,
      hasUniqueValue: false,
      hidden: false,
      formField: false,
      externalOptions: false,
      ...defined(given),
      options: given.options.map((option, displayOrder) => ({
        displayOrder,
        ...defined(option),
      })),
      calculated: false,
      archived: false,
      createdAt: at,
      updatedAt: at,
      modificationMetadata: { archivable: true, readOnlyDefinition: false, readOnlyValue: false },
    }
    store.registry.properties[type].set(property.name, property)
    return c.json(property, 201)
  })

  app.get('/:type/:name', (c) => {
    const type = objectType(c.req.param('type'))
    auth.require(scope(type, 'read', 'schemas'))
    const property = store.registry.properties[type].get(c.req.param('name'))
    if (!property) throw notFound(`Property ${c.req.param('name')} does not exist`)
    return c.json(property)
  })

  return app
}

/** The rules for values, below `/crm/property-validations/2026-09`: not those that make a property required. */
export function validationRoutes(faults: HubspotFaults, auth: HubspotAuth): Hono<HubspotEnv> {
  const app = new Hono<HubspotEnv>()
  app.get('/:type', (c) => {
    const type = objectType(c.req.param('type'))
    auth.require(scope(type, 'read', 'schemas'))
    const rules = Map.groupBy(
      faults.validations.filter((rule) => rule.type === type),
      ({ property }) => property,
    )
    return c.json({
      results: [...rules].map(([propertyName, all]) => ({
        propertyName,
        propertyValidationRules: all.map(({ ruleType, ruleArguments }) => ({ ruleType, ruleArguments })),
      })),
    })
  })
  return app
}

const groupSchema = z.object({
  name: z.string(),
  label: z.string(),
  displayOrder: z.number().int().optional(),
})

const propertySchema = z.object({
  name: z.string(),
  label: z.string().min(1),
  type: z.enum(['string', 'number', 'date', 'datetime', 'enumeration', 'bool', 'phone_number']),
  fieldType: z.string(),
  groupName: z.string(),
  description: z.string().optional(),
  displayOrder: z.number().int().optional(),
  hasUniqueValue: z.boolean().optional(),
  hidden: z.boolean().optional(),
  formField: z.boolean().optional(),
  externalOptions: z.boolean().optional(),
  options: z
    .array(
      z.object({
        label: z.string(),
        value: z.string(),
        displayOrder: z.number().int().optional(),
        hidden: z.boolean(),
      }),
    )
    .default([]),
})

const FIELD_TYPES: Readonly<Record<z.infer<typeof propertySchema>['type'], readonly string[]>> = {
  string: ['text', 'textarea', 'file', 'html', 'phonenumber', 'calculation_equation'],
  number: ['number', 'calculation_equation'],
  date: ['date'],
  datetime: ['date'],
  enumeration: ['select', 'radio', 'checkbox', 'booleancheckbox', 'calculation_equation'],
  bool: ['booleancheckbox', 'calculation_equation'],
  phone_number: ['phonenumber'],
}

function refuseName(name: string): void {
  if (!/^[a-z][a-z0-9_]{0,99}$/.test(name))
    throw validationError(
      `Name '${name}' is not valid: it must start with a letter and hold lower-case letters, digits and underscores only`,
    )
}

function defined<T extends object>(given: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>
  }
}
