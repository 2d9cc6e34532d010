import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import vm from 'node:vm'
import { toolsOf } from './tools.mjs'

/**
 * Holds the project in `folder` with HubSpot's own parser and builds each extension as HubSpot does: alone, in a folder that
 * has nothing but its own files and the packages that its package.json names. Returns the faults, one line each.
 *
 * @param {string} folder
 * @returns {Promise<string[]>}
 */
export async function checkWithHubspotTools(folder) {
  const tools = toolsOf('hubspot')
  const { parseProjectConfig } = await tools.load('@hubspot/project-parsing-lib/projects')
  const { srcDir, platformVersion } = parseProjectConfig(folder)
  const source = join(folder, srcDir)
  const problems = await parse(tools, source, platformVersion)
  for (const path of globSync('app/**/*-hsmeta.json', { cwd: source }).sort()) {
    const { config } = JSON.parse(readFileSync(join(source, path), 'utf8'))
    if (!/\.[jt]sx?$/.test(config?.entrypoint ?? '')) continue
    for (const problem of await build(tools, join(source, config.entrypoint)))
      problems.push(`${srcDir}${config.entrypoint}: ${problem}`)
  }
  return problems
}

async function parse(tools, source, platformVersion) {
  const { translate, isTranslationError } = await tools.load('@hubspot/project-parsing-lib/translate')
  const { http } = await tools.load('@hubspot/local-dev-lib/http')
  const { Components } = await tools.load('@hubspot/project-parsing-lib/constants')
  const { mapToInternalType } = await tools.load('@hubspot/project-parsing-lib/transform')
  // Only a signed-in account is given the schemas of `config`. Any config passes here; ../hubspot.mjs judges it.
  const anything = Object.fromEntries(Object.keys(Components).map((type) => [mapToInternalType(type), {}]))
  http.get = async () => ({ data: anything })

  const profiles = globSync('hsprofile.*.json', { cwd: source }).map((name) => name.split('.')[1])
  const problems = []
  for (const profile of profiles) {
    try {
      const context = { projectSourceDir: source, platformVersion, accountId: 1 }
      const { skippedHsMetaFiles } = await translate(context, { profile, skipValidation: false })
      for (const file of skippedHsMetaFiles) problems.push(`${file}: HubSpot leaves this file out`)
    } catch (error) {
      const text = isTranslationError(error) ? error.toString() : error.message
      problems.push(`profile ${profile}: ${oneLine(text)}`)
    }
  }
  return problems
}

async function build(tools, entrypoint) {
  const { buildSingleExtension } = await tools.load('@hubspot/ui-extensions-dev-server/build')
  const work = mkdtempSync(join(tmpdir(), 'paydirt-extension-'))
  const root = join(work, 'extension')
  const said = []
  const warn = console.warn
  try {
    cpSync(dirname(entrypoint), root, {
      recursive: true,
      filter: (path) => basename(path) !== 'node_modules',
    })
    said.push(...linkPackages(tools.folder, root))
    console.warn = (text) => said.push(oneLine(text))
    await buildSingleExtension({
      root,
      file: basename(entrypoint),
      outputDir: join(root, 'dist'),
      minify: true,
      logLevel: 'silent',
      appConfig: { variables: {} },
      codeCheckingPluginEnabled: true,
    })
    const output = basename(entrypoint).replace(/\.\w+$/, '.js')
    said.push(...start(readFileSync(join(root, 'dist', output), 'utf8')))
  } catch (error) {
    said.push(oneLine(error.message).replaceAll(`${root}/`, ''))
  } finally {
    console.warn = warn
    rmSync(work, { recursive: true, force: true })
  }
  return said
}

/** Gives the extension the packages that it names, and no other, as `npm ci` does at HubSpot. */
function linkPackages(tools, root) {
  const { dependencies = {} } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return Object.entries(dependencies).flatMap(([name, version]) => {
    const from = join(tools, 'node_modules', name)
    const to = join(root, 'node_modules', name)
    mkdirSync(dirname(to), { recursive: true })
    symlinkSync(from, to, 'junction')
    const installed = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8')).version
    return installed === version
      ? []
      : [`package.json names ${name} ${version}, and it was built with ${installed}`]
  })
}

/** Starts the built extension with the globals of HubSpot's worker: it has to register exactly one view. */
function start(code) {
  let registered = 0
  const anything = new Proxy({}, { get: () => () => ({}) })
  const self = { __HUBSPOT_EXTENSION_WORKER__: true, extend_V2: () => registered++ }
  vm.runInNewContext(code, { self, console, React: anything, RemoteUI: anything }, { timeout: 10_000 })
  return registered === 1 ? [] : [`it registers ${registered} views, not one`]
}

function oneLine(text) {
  return stripVTControlCharacters(String(text))
    .trim()
    .replaceAll(/\s*\n\s*/g, ' ')
}
