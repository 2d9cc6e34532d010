import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { ownerScope, tiedScopes } from '../../src/connectors/hubspot/making/scopes.ts'
import { hubspotMapping } from '../../src/connectors/hubspot/mapping.ts'
import { builtInRecipes } from '../../src/domain/planning/recipes.ts'
import { objectKinds, openTaskStatuses, taskStatuses } from '../../src/domain/words.ts'
import { typeCheck } from './type-check.mjs'

const entities = Object.keys(hubspotMapping.entities)
const folders = {
  app: '.',
  card: 'cards',
  'crm-bulk-action': 'actions',
  'workflow-action': 'workflow-actions',
}
const locations = ['crm.record.tab', 'crm.record.sidebar', 'crm.preview', 'helpdesk.sidebar']

/** The scopes that the app needs to read, write and make records, to take them back, and to create its own properties. */
const scopes = [
  ...new Set([
    'oauth',
    'automation',
    ...entities.flatMap((entity) =>
      ['objects', 'schemas'].flatMap((what) =>
        ['read', 'write'].map((verb) => `crm.${what}.${entity}.${verb}`),
      ),
    ),
    ...tiedScopes,
    ownerScope,
  ]),
]

/**
 * Returns the faults of the project in `folder`, one line each: anything that HubSpot would refuse or that would not work.
 *
 * @param {string} folder
 * @returns {string[]}
 */
export function checkHubspot(folder) {
  const problems = []
  const at = (file, problem) => problems.push(`${relative(folder, file)}: ${problem}`)
  const project = readJson(join(folder, 'hsproject.json'), at)
  const source = join(folder, project?.srcDir ?? 'src')
  if (!/^20\d\d\.\d\d$/.test(project?.platformVersion ?? ''))
    at(join(folder, 'hsproject.json'), 'its platformVersion is not a version such as 2026.09')

  const components = globSync('app/**/*-hsmeta.json', { cwd: source })
    .sort()
    .flatMap((path) => {
      const file = join(source, path)
      const json = readJson(file, at)
      return json ? [{ file, path, ...json }] : []
    })
  const uids = new Set()
  for (const { file, path, uid, type, config } of components) {
    if (!/^[\w.-]{1,64}$/.test(uid ?? '')) at(file, 'its uid is missing or too long')
    if (uids.has(uid)) at(file, `the uid ${uid} is used twice`)
    uids.add(uid)
    if (!Object.hasOwn(folders, type)) at(file, `there is no type ${type}`)
    else if (path !== join('app', folders[type], basename(path)))
      at(file, `a ${type} belongs into app/${folders[type]}`)
    checks[type]?.(config ?? {}, (problem) => at(file, problem), source)
  }
  const apps = components.filter(({ type }) => type === 'app')
  if (apps.length !== 1) at(source, `there are ${apps.length} apps, not one`)

  checkVariables(source, at)
  checkExtensionFolders(source, components, at)
  for (const { file, line, message } of typeCheck(folder)) at(file, `line ${line}: ${message}`)
  return problems
}

const checks = {
  app({ auth, distribution, permittedUrls }, at) {
    if (distribution === 'private' && !['static', 'oauth'].includes(auth?.type))
      at(`auth is of type ${auth?.type}`)
    const required = auth?.requiredScopes ?? []
    for (const scope of scopes) if (!required.includes(scope)) at(`the scope ${scope} is missing`)
    for (const scope of required) if (!scopes.includes(scope)) at(`nothing here needs the scope ${scope}`)
    if (!(permittedUrls?.fetch ?? []).includes('${PAYDIRT_URL}'))
      at('permittedUrls.fetch lacks ${PAYDIRT_URL}')
  },
  card(config, at, source) {
    if (!config.name) at('it has no name')
    if (!locations.includes(config.location)) at(`there is no location ${config.location}`)
    checkExtension(config, at, source)
  },
  'crm-bulk-action'(config, at, source) {
    if (!config.label) at('it has no label')
    if (!['PANEL', 'MODAL'].includes(config.displayMode)) at(`there is no displayMode ${config.displayMode}`)
    checkExtension(config, at, source)
  },
  'workflow-action'(config, at) {
    const {
      actionUrl,
      inputFields = [],
      outputFields = [],
      labels = {},
      objectTypes,
      supportedClients,
    } = config
    if (actionUrl !== '${PAYDIRT_URL}/hooks/hubspot/workflow') at(`its actionUrl is ${actionUrl}`)
    if (!supportedClients?.some(({ client }) => client === 'WORKFLOWS')) at('it does not support WORKFLOWS')
    if ([...(objectTypes ?? [])].sort().join() !== 'COMPANY,CONTACT') at(`its objectTypes are ${objectTypes}`)
    const { en = {} } = labels
    for (const name of ['actionName', 'actionDescription', 'actionCardContent'])
      if (!en[name]) at(`labels.en lacks ${name}`)
    for (const [fields, spoken] of [
      [inputFields, ['inputFieldLabels', 'inputFieldDescriptions']],
      [outputFields, ['outputFieldLabels']],
    ]) {
      const names = fields.map(({ typeDefinition }) => typeDefinition.name)
      for (const key of spoken)
        if (
          Object.keys(en[key] ?? {})
            .sort()
            .join() !== [...names].sort().join()
        )
          at(`labels.en.${key} does not cover ${names.join(', ')}`)
    }
    for (const [, name] of (en.actionCardContent ?? '').matchAll(/\{\{(\w+)\}\}/g))
      if (!inputFields.some(({ typeDefinition }) => typeDefinition.name === name))
        at(`there is no input ${name}`)
    checkRecipes(optionsOf(inputFields, 'recipe'), at)
    const final = taskStatuses.filter((status) => !openTaskStatuses.includes(status))
    const said = optionsOf(outputFields, 'status')
    if ([...said].sort().join() !== [...final].sort().join())
      at(`the statuses of its output are ${said.join(', ')}, not ${final.join(', ')}`)
  },
}

// HubSpot builds each extension alone, from the files of its folder and the packages that its package.json names. What two
// extensions share is a copy in each; the copies must be equal.
function checkExtensionFolders(source, components, at) {
  const entrypoints = components.flatMap(({ config }) => config?.entrypoint ?? [])
  const copies = new Map()
  for (const folder of new Set(entrypoints.map((it) => join(source, dirname(it))))) {
    const manifest = join(folder, 'package.json')
    const packages = Object.keys(readJson(manifest, at)?.dependencies ?? {})
    for (const path of globSync('**/*.{js,jsx,ts,tsx}', { cwd: folder })) {
      const file = join(folder, path)
      const text = readFileSync(file, 'utf8')
      for (const [, name] of text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*['"]([^'"]+)['"]/g)) {
        const isInside = name.startsWith('.') && !relative(folder, join(dirname(file), name)).startsWith('..')
        const packageName = name.split('/', name.startsWith('@') ? 2 : 1).join('/')
        if (name.startsWith('.') && !isInside)
          at(file, `it imports ${name}, and HubSpot builds ${basename(folder)}/ alone: copy the file into it`)
        else if (!isInside && !packages.includes(packageName)) at(manifest, `it lacks ${packageName}`)
      }
      const first = copies.get(path)
      if (!first) copies.set(path, { file, text })
      else if (first.text !== text)
        at(
          file,
          `it differs from ${relative(source, first.file)}: the copies in the extensions must be equal`,
        )
    }
  }
}

function checkExtension({ entrypoint, objectTypes }, at, source) {
  if (!entrypoint || !existsSync(join(source, entrypoint))) at(`there is no ${entrypoint}`)
  else if (!readFileSync(join(source, entrypoint), 'utf8').includes('hubspot.extend'))
    at(`${entrypoint} extends nothing`)
  if ([...(objectTypes ?? [])].sort().join() !== [...entities].sort().join())
    at(`its objectTypes are ${objectTypes}, not ${entities.join(', ')}`)
}

/** Checks that each profile defines exactly the variables that the project uses. */
function checkVariables(source, at) {
  const used = new Set(
    globSync('app/**/*.{json,ts,tsx}', { cwd: source }).flatMap((path) => {
      const text = readFileSync(join(source, path), 'utf8')
      const pattern = path.endsWith('.json') ? /\$\{(\w+)\}/g : /variables\?\.\['(\w+)'\]/g
      return [...text.matchAll(pattern)].map(([, name]) => name)
    }),
  )
  const profiles = globSync('hsprofile.*.json', { cwd: source })
  if (profiles.length === 0) at(source, 'there is no profile')
  for (const path of profiles) {
    const file = join(source, path)
    const { variables = {} } = readJson(file, at) ?? {}
    for (const name of used) if (!(name in variables)) at(file, `it has no ${name}`)
    for (const name of Object.keys(variables)) if (!used.has(name)) at(file, `nothing uses ${name}`)
    if (!String(variables.PAYDIRT_URL).startsWith('https://')) at(file, 'PAYDIRT_URL is not https://…')
    checkRecipes(String(variables.PAYDIRT_RECIPES ?? '').split(','), (problem) => at(file, problem))
  }
}

function checkRecipes(names, at) {
  for (const name of names)
    for (const object of objectKinds) {
      try {
        builtInRecipes(object, name)
      } catch (error) {
        at(error.message)
      }
    }
}

function optionsOf(fields, name) {
  const field = fields.find(({ typeDefinition }) => typeDefinition.name === name)
  return (field?.typeDefinition.options ?? []).map(({ value }) => value)
}

function readJson(file, at) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    at(file, error.message)
    return undefined
  }
}
