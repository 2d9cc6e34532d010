import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { ownFields } from '../../src/connectors/salesforce/own-fields.ts'
import { salesforceMapping } from '../../src/connectors/salesforce/mapping.ts'
import { readApex } from './apex.mjs'
import { checkListButtons } from './list-buttons.mjs'
import { templateAsTypeScript } from './lwc-template.mjs'
import { all, elementsOf, parseMarkup, textOf } from './markup.mjs'
import { shapes } from './metadata-shapes.mjs'
import { typeCheck } from './type-check.mjs'

const namespace = 'http://soap.sforce.com/2006/04/metadata'
const entities = Object.keys(salesforceMapping.entities)
const fieldTypes = {
  Text: 'text',
  LongTextArea: 'text',
  Number: 'number',
  Email: 'email',
  Date: 'date',
  DateTime: 'datetime',
  Picklist: 'option',
  Url: 'url',
}

/**
 * Returns the faults of the package in `folder`, one line each with its file: anything that would not deploy or not work.
 *
 * @param {string} folder
 * @returns {string[]}
 */
export function checkSalesforce(folder) {
  const problems = []
  const at = (file, problem) => problems.push(`${relative(folder, file)}: ${problem}`)
  const source = join(folder, 'force-app/main/default')
  const files = globSync('**/*-meta.xml', { cwd: source }).sort()
  const metadata = files.flatMap((path) => readMetadata(join(source, path), at))
  const ofType = (type) => metadata.filter((it) => it.root.name === type)
  const names = (type) => new Set(ofType(type).map(({ name }) => name))

  const classes = new Map(
    globSync('classes/*.cls', { cwd: source }).map((path) => {
      const file = join(source, path)
      const apex = readApex(readFileSync(file, 'utf8'))
      for (const error of apex.errors) at(file, error)
      if (apex.errors.length === 0 && apex.className !== basename(path, '.cls'))
        at(file, `the class in it is called ${apex.className}`)
      if (!existsSync(`${file}-meta.xml`)) at(file, 'it has no -meta.xml')
      return [basename(path, '.cls'), { file, ...apex }]
    }),
  )
  for (const { file, name } of ofType('ApexClass'))
    if (!classes.has(name)) at(file, `there is no class ${name}`)
  for (const { file, callouts } of classes.values())
    for (const callout of callouts)
      if (!names('NamedCredential').has(callout)) at(file, `there is no named credential ${callout}`)

  checkVersions(metadata, folder, at)
  checkFields(ofType('CustomField'), source, at)
  checkCredentials(ofType('NamedCredential'), names('ExternalCredential'), folder, at)
  const components = checkComponents(source, classes, folder, at)
  checkActions(ofType('QuickAction'), ofType('LightningComponentBundle'), source, at)
  const pages = checkListButtons(
    {
      buttons: ofType('WebLink'),
      pages: ofType('ApexPage'),
      components: ofType('ApexComponent'),
      classes,
      entities,
    },
    source,
    at,
  )
  checkPermissions(
    {
      pages,
      sets: ofType('PermissionSet'),
      classes,
      fields: new Set(ofType('CustomField').map(({ name, object }) => `${object}.${name}`)),
      principals: new Set(ofType('ExternalCredential').flatMap(principalsOf)),
      calledClasses: components,
    },
    source,
    at,
  )
  return problems
}

function readMetadata(file, at) {
  const [, name = '', type = ''] = /^(.+?)\.([\w-]+)-meta\.xml$/.exec(basename(file)) ?? []
  try {
    const root = parseMarkup(readFileSync(file, 'utf8'))
    const expected = rootOf[type]
    if (root.name !== expected) at(file, `its root is <${root.name}>, not <${expected}>`)
    if (root.attributes.get('xmlns') !== namespace) at(file, `its namespace is not ${namespace}`)
    const shape = shapes[root.name]
    if (shape) checkShape(root, shape, file, at)
    const [, object] = /objects\/(\w+)\/(?:fields|webLinks)\//.exec(file.replaceAll('\\', '/')) ?? []
    return [{ file, name, root, object }]
  } catch (error) {
    at(file, error.message)
    return []
  }
}

const rootOf = {
  cls: 'ApexClass',
  js: 'LightningComponentBundle',
  field: 'CustomField',
  webLink: 'WebLink',
  page: 'ApexPage',
  component: 'ApexComponent',
  quickAction: 'QuickAction',
  namedCredential: 'NamedCredential',
  externalCredential: 'ExternalCredential',
  permissionset: 'PermissionSet',
}

function checkShape(element, shape, file, at) {
  const allowed = [...shape.required, ...shape.optional]
  for (const child of elementsOf(element)) {
    if (!allowed.includes(child.name))
      at(file, `line ${child.line}: <${element.name}> has no <${child.name}>`)
    const values = shape.values[child.name]
    const value = child.children.map((it) => it.text ?? '').join('')
    if (values && !values.includes(value))
      at(file, `line ${child.line}: <${child.name}> is "${value}", not ${values.join(' or ')}`)
    const inner = shape.children?.[child.name]
    if (inner) checkShape(child, inner, file, at)
  }
  for (const name of shape.required)
    if (all(element, name).length === 0) at(file, `line ${element.line}: <${element.name}> lacks <${name}>`)
}

function checkVersions(metadata, folder, at) {
  const { sourceApiVersion } = JSON.parse(readFileSync(join(folder, 'sfdx-project.json'), 'utf8'))
  for (const { file, root } of metadata) {
    const version = textOf(root, 'apiVersion')
    if (version !== undefined && version !== sourceApiVersion)
      at(file, `its API version is ${version}, and the project's ${sourceApiVersion}`)
  }
}

// The connector's own check of an org's fields is applied to the fields of the package.
function checkFields(fields, source, at) {
  for (const { file, name, root } of fields)
    if (textOf(root, 'fullName') !== name) at(file, `its fullName is ${textOf(root, 'fullName')}`)
  for (const entity of entities) {
    const own = fields.filter(({ object }) => object === entity)
    const described = new Map(
      own.map(({ name, root }) => [
        name,
        {
          name,
          label: textOf(root, 'label'),
          type: fieldTypes[textOf(root, 'type')],
          writable: true,
          ...(textOf(root, 'unique') === 'true' ? { unique: true } : {}),
          ...(textOf(root, 'length') ? { maxLength: Number(textOf(root, 'length')) } : {}),
        },
      ]),
    )
    const folder = join(source, 'objects', entity)
    const all = { fields: Object.keys(salesforceMapping.entities[entity].fields), forCreating: true }
    const wanted = ownFields(salesforceMapping, entity, { fields: new Map() }, all)
    for (const { name, status, reason } of ownFields(salesforceMapping, entity, { fields: described }, all))
      if (status !== 'exists')
        at(folder, described.has(name) ? `${name}: ${reason}` : `there is no field ${name}`)
    for (const { name, file, root } of own) {
      const label = wanted.find((it) => it.name === name)?.label
      if (label === undefined) at(file, 'Paydirt writes no such field')
      else if (label !== textOf(root, 'label')) at(file, `its label is not "${label}"`)
    }
  }
}

function checkCredentials(credentials, external, folder, at) {
  for (const { file, root } of credentials) {
    const parameters = all(root, 'namedCredentialParameters')
    const of = (type) => parameters.find((it) => textOf(it, 'parameterType') === type)
    const named = textOf(of('Authentication') ?? root, 'externalCredential')
    if (!external.has(named)) at(file, `there is no external credential ${named}`)
    const url = textOf(of('Url') ?? root, 'parameterValue')
    if (!url?.startsWith('https://')) at(file, `its address is ${url}, not https://…`)
  }
  const project = join(folder, 'sfdx-project.json')
  for (const { filename, stringToReplace } of JSON.parse(readFileSync(project, 'utf8')).replacements ?? []) {
    const file = join(folder, filename)
    if (!existsSync(file)) at(project, `there is no ${filename} to put an address into`)
    else if (!readFileSync(file, 'utf8').includes(stringToReplace))
      at(project, `${filename} has no ${stringToReplace} to replace`)
  }
}

function principalsOf({ name, root }) {
  return all(root, 'externalCredentialParameters')
    .filter((it) => textOf(it, 'parameterType') === 'NamedPrincipal')
    .map((it) => `${name}-${textOf(it, 'parameterName')}`)
}

function checkActions(actions, bundles, source, at) {
  const byName = new Map(bundles.map((it) => [it.name, it]))
  for (const { file, name, root } of actions) {
    const [object = ''] = name.split('.')
    if (!entities.includes(object)) at(file, `Paydirt enriches no ${object}`)
    const component = textOf(root, 'lightningWebComponent')
    const bundle = byName.get(component)
    if (!bundle) {
      at(file, `there is no component ${component}`)
      continue
    }
    const [configs] = all(bundle.root, 'targetConfigs')
    const config = configs && elementsOf(configs).find(isRecordAction)
    if (textOf(bundle.root, 'isExposed') !== 'true') at(bundle.file, 'the component is not exposed')
    if (!all(bundle.root, 'targets').some((it) => textOf(it, 'target') === 'lightning__RecordAction'))
      at(bundle.file, 'lightning__RecordAction is not among its targets')
    if (config && textOf(config, 'actionType') !== (textOf(root, 'actionSubtype') ?? 'ScreenAction'))
      at(file, `its actionSubtype is not that of the component, ${textOf(config, 'actionType')}`)
  }
  for (const entity of entities)
    if (!actions.some(({ name }) => name.startsWith(`${entity}.`)))
      at(join(source, 'quickActions'), `${entity} has no action`)
}

function isRecordAction({ attributes }) {
  return (attributes.get('targets') ?? '').split(',').includes('lightning__RecordAction')
}

function isKey(field) {
  return field.split('.')[1] === salesforceMapping.key
}

function checkPermissions({ pages, sets, classes, fields, principals, calledClasses }, source, at) {
  for (const { file, root } of sets) {
    for (const access of all(root, 'classAccesses')) {
      const name = textOf(access, 'apexClass')
      if (!classes.has(name)) at(file, `there is no class ${name}`)
    }
    for (const access of all(root, 'externalCredentialPrincipalAccesses')) {
      const name = textOf(access, 'externalCredentialPrincipal')
      if (!principals.has(name)) at(file, `there is no principal ${name}`)
    }
    const permitted = all(root, 'fieldPermissions').map((it) => textOf(it, 'field'))
    // Standard fields are the org's own: a conformance test compares them with the mapping.
    for (const name of permitted)
      if (name?.endsWith('__c') && !fields.has(name)) at(file, `there is no field ${name}`)
    // The right to make records, and the key by which they are made, are in a set of their own.
    const isForCreating = all(root, 'objectPermissions').some((it) => textOf(it, 'allowCreate') === 'true')
    for (const name of fields)
      if (isKey(name) === isForCreating && !permitted.includes(name)) at(file, `it does not cover ${name}`)
  }
  const open = sets.flatMap(({ root }) => all(root, 'pageAccesses').map((it) => textOf(it, 'apexPage')))
  for (const name of pages)
    if (!open.includes(name)) at(join(source, 'permissionsets'), `none gives access to the page ${name}`)
  const granted = sets.flatMap(({ root }) => all(root, 'classAccesses').map((it) => textOf(it, 'apexClass')))
  for (const name of calledClasses)
    if (!granted.includes(name)) at(join(source, 'permissionsets'), `none gives access to ${name}`)
}

/** Checks the types of the components, their templates, and their calls to Apex. Returns the classes that they call. */
function checkComponents(source, classes, folder, at) {
  const types = join(folder, 'types/platform.d.ts')
  const declared = [
    ...readFileSync(types, 'utf8').matchAll(
      /declare module '@salesforce\/apex\/(\w+)\.(\w+)' \{[\s\S]*?\((?:\w+: \{([^}]*)\})?\)/g,
    ),
  ]
  for (const [, className, methodName, parameters = ''] of declared) {
    const method = classes.get(className)?.methods.get(methodName)
    const names = [...parameters.matchAll(/(\w+)\??:/g)].map(([, name]) => name)
    if (!method) at(types, `there is no ${className}.${methodName} in Apex`)
    else if (
      !method.modifiers.some((it) => it.startsWith('@auraenabled')) ||
      !method.modifiers.includes('static')
    )
      at(types, `${className}.${methodName} is not static and @AuraEnabled`)
    else if (names.sort().join() !== [...method.parameters].sort().join())
      at(types, `${className}.${methodName} takes ${method.parameters.join(', ')}, not ${names.join(', ')}`)
  }

  const work = mkdtempSync(join(tmpdir(), 'paydirt-lwc-'))
  try {
    const templates = globSync('lwc/*/*.html', { cwd: source }).flatMap((path) => {
      const file = join(source, path)
      const bundle = basename(dirname(path))
      if (!existsSync(join(dirname(file), `${bundle}.js-meta.xml`)))
        at(file, 'the component has no -meta.xml')
      try {
        const result = templateAsTypeScript(readFileSync(file, 'utf8'), file.replace(/\.html$/, ''))
        for (const problem of result.problems) at(file, problem)
        for (const name of result.components)
          if (!name.startsWith('lightning-')) at(file, `there is no component <${name}>`)
        writeFileSync(join(work, `${bundle}.ts`), result.source)
        return [{ file, bundle, lines: result.lines }]
      } catch (error) {
        at(file, error.message)
        return []
      }
    })
    writeFileSync(
      join(work, 'tsconfig.json'),
      JSON.stringify({
        extends: join(folder, 'tsconfig.json'),
        include: [join(folder, 'types'), join(source, 'lwc/**/*.js'), '*.ts'],
      }),
    )
    for (const { file, line, message } of typeCheck(work)) {
      const template = templates.find(({ bundle }) => file === join(work, `${bundle}.ts`))
      if (template) at(template.file, `line ${template.lines[line - 1]}: ${message}`)
      else at(file, `line ${line}: ${message}`)
    }
  } finally {
    rmSync(work, { recursive: true })
  }
  return new Set(declared.map(([, className]) => className))
}
