import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { toolsOf } from './tools.mjs'

/**
 * Holds the package in `folder` with Salesforce's own tools: what a deployment would send, the compiler of its components,
 * and their lint. Returns the faults, one line each.
 *
 * @param {string} folder
 * @returns {Promise<string[]>}
 */
export async function checkWithSalesforceTools(folder) {
  const tools = toolsOf('salesforce')
  return [
    ...(await convert(tools, folder)),
    ...(await compile(tools, folder)),
    ...(await lint(tools, folder)),
  ]
}

/** Converts the source as a deployment does, and looks for files that would not be sent. */
async function convert(tools, folder) {
  // Its core asks for the network otherwise: telemetry, and the newest version of the API.
  process.env.SF_DISABLE_TELEMETRY = 'true'
  process.env.SF_DISABLE_LOG_FILE = 'true'
  const { ComponentSet, MetadataConverter } = await tools.load('@salesforce/source-deploy-retrieve')
  const { sourceApiVersion, packageDirectories } = readProject(folder)
  const work = mkdtempSync(join(tmpdir(), 'paydirt-deploy-'))
  const problems = []
  try {
    for (const { path } of packageDirectories) {
      const source = join(folder, path)
      const set = ComponentSet.fromSource(source)
      set.sourceApiVersion = sourceApiVersion
      const components = set.getSourceComponents().toArray()
      const sent = new Set(components.flatMap((it) => [it.xml, ...it.walkContent()]))
      for (const file of globSync('**/*', { cwd: source, withFileTypes: true })) {
        const name = join(file.parentPath, file.name)
        if (file.isFile() && !sent.has(name)) problems.push(`${relative(folder, name)}: it is not deployed`)
      }
      await new MetadataConverter().convert(set, 'metadata', { type: 'directory', outputDirectory: work })
      if (globSync('**/package.xml', { cwd: work }).length !== 1)
        problems.push(`${path}: it has no manifest when converted`)
    }
  } catch (error) {
    problems.push(`force-app: ${error.message}`)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
  return problems
}

async function compile(tools, folder) {
  const { transformSync } = await tools.load('@lwc/compiler')
  const apiVersion = Number.parseInt(readProject(folder).sourceApiVersion, 10)
  return globSync('force-app/**/lwc/*/*.{js,html,css}', { cwd: folder })
    .sort()
    .flatMap((path) => {
      const options = { name: basename(dirname(path)), namespace: 'c', apiVersion }
      try {
        const { warnings = [] } = transformSync(readFileSync(join(folder, path), 'utf8'), path, options)
        return warnings.map(({ message }) => `${path}: ${message}`)
      } catch (error) {
        return [`${path}: ${error.message.trim().replaceAll(/\s*\n\s*/g, ' ')}`]
      }
    })
}

async function lint(tools, folder) {
  const { ESLint } = (await tools.load('eslint')).default
  const recommended = await tools.load('@salesforce/eslint-config-lwc/recommended')
  const eslint = new ESLint({
    cwd: folder,
    overrideConfigFile: true,
    overrideConfig: recommended.default,
  })
  const results = await eslint.lintFiles(['force-app/**/lwc/**/*.js'])
  return results.flatMap(({ filePath, messages }) =>
    messages.map(
      ({ line, ruleId, message }) => `${relative(folder, filePath)}: line ${line}: ${message} (${ruleId})`,
    ),
  )
}

function readProject(folder) {
  return JSON.parse(readFileSync(join(folder, 'sfdx-project.json'), 'utf8'))
}
